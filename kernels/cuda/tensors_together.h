#pragma once
/// \file tensors_together.h: several tensors in one launch, whose blocks take a part of one tensor each.
///
/// Model: a launch takes as many tensors as its arguments hold (4 KiB); tensor after tensor is divided into parts of
/// `elements_of_part`, a block for each. Source: CUDA C++ Programming Guide, "__global__ functions": 4 KiB of
/// arguments. Checked against: tests/kernels/cuda/tensors_together_test.cpp.

#include "kernels/cuda/vectors.h"

namespace plumbline::cuda {

inline constexpr std::size_t bytes_of_arguments = 4096;
inline constexpr int most_tensors = 128;  ///< of a launch

/// Sixteen groups of eight for each thread.
inline constexpr std::int64_t elements_of_part = std::int64_t{block_threads} * vector_elements * 16;

[[nodiscard]] inline unsigned parts_of(std::int64_t elements) {
  return static_cast<unsigned>((elements + elements_of_part - 1) / elements_of_part);
}

/// Elements of a tensor whose rows lie one after another at a multiple of 16 bytes, or 0.
[[nodiscard]] inline std::int64_t flat_elements(const ConstTensorView& view) {
  return takes_vectors(view) && (view.rows <= 1 || view.stride == view.columns) ? view.rows * view.columns : 0;
}

/// The tensor of this block: the last whose first block is not behind it.
template <class Tensor>
__device__ __forceinline__ int tensor_of_block(const Tensor* tensors, int count) {
  int at = 0;
  for (int step = most_tensors / 2; step > 0; step /= 2)
    if (at + step < count && tensors[at + step].first_block <= blockIdx.x) at += step;
  return at;
}

/// Calls visit(Count, element) for each element of this block's part, by eights and then one by one.
template <class Visit>
__device__ __forceinline__ void for_each_of_part(std::int64_t elements, unsigned first_block, Visit visit) {
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x - first_block) * elements_of_part;
  const std::int64_t rest = elements - begin;
  for_each_group<vector_elements>(rest < elements_of_part ? rest : elements_of_part, threadIdx.x, block_threads,
                                  [&](auto count, std::int64_t at) { visit(count, begin + at); });
}

}  // namespace plumbline::cuda
