#pragma once
/// \file launch.h: a kernel into a stream, or an EnvironmentError that names it.
///
/// Answers: nothing is returned before the stream's work is done; errors of the kernel itself are found by later calls.
/// Source: CUDA Runtime API, "Execution Control". Checked against: tests/kernels/cuda/elementwise_test.cpp.

#include <algorithm>
#include <string>

#include "core/base/errors.h"
#include "kernels/cuda/language.h"
#include "kernels/tensor_view.h"

namespace plumbline::cuda {

inline constexpr unsigned block_threads = 256;
/// Largest y and z of a grid. Source: CUDA C++ Programming Guide, table "Technical Specifications per Compute
/// Capability".
inline constexpr std::int64_t most_grid_rows = 65535;
/// Enough blocks of 256 threads to fill any GPU of today several times; kernels over elements loop beyond.
inline constexpr std::int64_t most_grid_columns = 4096;

inline void require_launched(cudaError_t error, const char* kernel) {
  if (error == cudaSuccess) return;
  throw EnvironmentError(std::string("launch of ") + kernel + ": " + cudaGetErrorString(error) + " (error " +
                         std::to_string(static_cast<int>(error)) + ")");
}

/// Blocks, threads of each and bytes of dynamic shared memory.
struct LaunchShape {
  dim3 grid;
  dim3 block = dim3(block_threads);
  std::size_t dynamic_shared = 0;
};

template <class... P, class... A>
void launch(const char* name, const LaunchShape& shape, cudaStream_t stream, void (*kernel)(P...),
            const A&... arguments) {
  if (shape.grid.x == 0) return;  // a tensor without elements
  constexpr std::size_t without_asking = std::size_t{48} * 1024;
  if (shape.dynamic_shared > without_asking)
    require_launched(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(shape.dynamic_shared)),
                     name);
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.dynamic_shared;
  config.stream = stream;
  require_launched(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

/// ceil(count / per), at least 1 and at most `most`.
[[nodiscard]] inline unsigned blocks_for(std::int64_t count, std::int64_t per, std::int64_t most = most_grid_columns) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((count + per - 1) / per, 1, most));
}

/// A thread for each element, columns in x and rows in y.
[[nodiscard]] inline LaunchShape element_shape(std::int64_t rows, std::int64_t columns) {
  return {.grid = dim3(blocks_for(columns, block_threads), blocks_for(rows, 1, most_grid_rows))};
}
/// A block for each row; beyond the grid's limit of x nothing is left to do (2^31 rows).
[[nodiscard]] inline LaunchShape row_shape(std::int64_t rows) { return {.grid = dim3(static_cast<unsigned>(rows))}; }

/// Throws InternalError unless both are there and have one shape.
inline void check_same_shape(const ConstTensorView& a, const ConstTensorView& b) {
  check(a.is_there() && b.is_there() && a.rows == b.rows && a.columns == b.columns,
        "tensors of an element-wise kernel have one shape");
}

}  // namespace plumbline::cuda
