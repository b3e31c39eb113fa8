#include <regex>

#include "tests/catch.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(source_folder() + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What a device's table names: "Kernel<Add> add = nullptr;", "ScratchKernel<Matmul> matmul;", "void (*name)(".
std::vector<std::string> kernels_of_the_table() {
  const std::string whole = text_of("runtime/device/device_kernels.h");
  const std::string table = whole.substr(whole.find("struct DeviceKernels"));
  const std::regex member(R"((?:Kernel<\w+> (\w+)(?: = nullptr)?;)|(?:\(\*(\w+)\)\())");
  std::vector<std::string> names;
  for (std::sregex_iterator at(table.begin(), table.end(), member), end; at != end; ++at)
    names.push_back((*at)[1].matched ? (*at)[1] : (*at)[2]);
  return names;
}

TEST_CASE("every kernel that a device's table names has one for CUDA") {
  const std::string declared = text_of("kernels/cuda/cuda_kernels.h");
  const std::vector<std::string> names = kernels_of_the_table();
  CHECK(names.size() >= 60);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(declared.find(" " + name + "(") != std::string::npos);
  }
}

}  // namespace
}  // namespace plumbline
