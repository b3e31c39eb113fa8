// Which cuBLASLt this program multiplies with. Tests have a stand-in here (tests/cuda/fake_cublaslt.cpp).
#include <cuda_runtime_api.h>

#include "runtime/cuda/built_folders.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/mpi/launch_place.h"

namespace plumbline {
namespace {

std::vector<std::string> files() {
  constexpr int version_step = 1000;  // of CUDART_VERSION: 13000 is 13.0
  const std::string name = "libcublasLt.so." + std::to_string(CUDART_VERSION / version_step);
  return library_files(name, "cublas", built_folders());
}

}  // namespace

const FoundCublasLt& cublaslt() {
  static const FoundCublasLt found = load_cublaslt(system_libraries(), files());
  return found;
}

ProductTuning product_tuning() {
  static const ProductTuning tuning =
      launched_with_others(process_environment) ? ProductTuning::first : ProductTuning::timed;
  return tuning;
}

}  // namespace plumbline
