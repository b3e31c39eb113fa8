#include "runtime/cuda/cublaslt.h"

#include "tests/catch.h"
#include "tests/fake_libraries.h"

namespace plumbline {
namespace {

FakeLibraries::Functions functions() {
  const CublasLt& f = cublaslt().functions;
  const auto pointer = [](auto* function) { return FakeLibraries::pointer(function); };
  return {{"cublasLtCreate", pointer(f.create)},
          {"cublasLtDestroy", pointer(f.destroy)},
          {"cublasLtMatrixLayoutCreate", pointer(f.layout_create)},
          {"cublasLtMatrixLayoutDestroy", pointer(f.layout_destroy)},
          {"cublasLtMatmulDescCreate", pointer(f.description_create)},
          {"cublasLtMatmulDescDestroy", pointer(f.description_destroy)},
          {"cublasLtMatmulDescSetAttribute", pointer(f.description_set)},
          {"cublasLtMatmulPreferenceCreate", pointer(f.preference_create)},
          {"cublasLtMatmulPreferenceDestroy", pointer(f.preference_destroy)},
          {"cublasLtMatmulPreferenceSetAttribute", pointer(f.preference_set)},
          {"cublasLtMatmulAlgoGetHeuristic", pointer(f.heuristic)},
          {"cublasLtMatmul", pointer(f.matmul)}};
}

TEST_CASE("cuBLASLt is the first file that can be loaded and has every function") {
  FakeLibraries libraries;
  libraries.with("/toolkit/libcublasLt.so.13", functions());
  const FoundCublasLt found = load_cublaslt(libraries, {"libcublasLt.so.13", "/toolkit/libcublasLt.so.13"});
  CHECK(found.problem.empty());
  CHECK(found.functions.matmul == cublaslt().functions.matmul);
  CHECK(found.functions.preference_destroy == cublaslt().functions.preference_destroy);
}

TEST_CASE(
    "without cuBLASLt it is said why: what the loader said of the first file, or the function that is not there") {
  const FakeLibraries none;
  CHECK(load_cublaslt(none, {"libcublasLt.so.13", "/toolkit/libcublasLt.so.13"}).problem ==
        none.open("libcublasLt.so.13").problem);
  FakeLibraries old;
  FakeLibraries::Functions some = functions();
  some.erase("cublasLtMatmul");
  old.with("libcublasLt.so.13", some);
  CHECK(load_cublaslt(old, {"libcublasLt.so.13"}).problem == "libcublasLt.so.13: has no cublasLtMatmul");
  CHECK(!load_cublaslt(none, {}).problem.empty());
}

}  // namespace
}  // namespace plumbline
