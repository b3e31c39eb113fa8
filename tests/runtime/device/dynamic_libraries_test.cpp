#include "runtime/device/dynamic_libraries.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("A library of the system is loaded, and its functions are found") {
  const DynamicLibraries& libraries = system_libraries();
  const OpenedLibrary math = libraries.open("libm.so.6");
  REQUIRE(math.handle != nullptr);
  CHECK(math.problem.empty());
  auto* const root = function_of<double(double)>(libraries, math.handle, "sqrt");
  REQUIRE(root != nullptr);
  CHECK(root(9) == 3);
  CHECK(libraries.file_of(libraries.symbol(math.handle, "sqrt")).find("libm") != std::string::npos);
  CHECK(libraries.symbol(math.handle, "no_such_function_of_mathematics") == nullptr);
}

TEST_CASE("A library that is not there is named") {
  const OpenedLibrary absent = system_libraries().open("libplumbline-absent.so.9");
  CHECK(absent.handle == nullptr);
  CHECK(absent.problem.find("libplumbline-absent.so.9") != std::string::npos);
}

}  // namespace
}  // namespace plumbline
