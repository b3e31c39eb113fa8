#pragma once
/// \file cublaslt.h: cuBLASLt, looked for while the program runs.
///
/// Answers: its functions, or why there are none. Model: the file of the toolkit's major version, where the system's
/// loader looks, else the folder of the toolkit that the module was built with. Nothing of ours is linked with it: a
/// computer without it multiplies with the kernels of kernels/cuda. Source: cuBLAS 13.1, "Using the cuBLASLt API".
/// Checked against: tests/cuda/cublaslt_test.cpp.

#include <cublasLt.h>

#include <string>
#include <vector>

#include "runtime/device/dynamic_libraries.h"

namespace plumbline {

/// One member for each function that is called, named as it is.
struct CublasLt {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulDescCreate) description_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) description_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) description_set = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
};

struct FoundCublasLt {
  CublasLt functions;
  std::string problem;  ///< empty: it was found
};

/// The first of `files` that can be loaded and has every function.
[[nodiscard]] FoundCublasLt load_cublaslt(const DynamicLibraries& libraries, const std::vector<std::string>& files);

/// How a plan is chosen among those that the library proposes.
enum class ProductTuning : std::uint8_t {
  first,  ///< the one that it thinks fastest
  timed   ///< the one that was fastest on the device, tried once
};

/// Of this program; looked for once.
[[nodiscard]] const FoundCublasLt& cublaslt();
/// Timed where one process has all ranks. Processes that tried for themselves might choose differently, and ranks that
/// compute the same (a router's choices) must agree.
[[nodiscard]] ProductTuning product_tuning();

}  // namespace plumbline
