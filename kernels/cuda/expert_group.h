#pragma once
/// \file expert_group.h: where an expert's rows lie, from counts that the device alone knows.
///
/// Checked against: tests/kernels/cuda/matmul_test.cpp.

#include "kernels/cuda/language.h"
#include "kernels/grouped_linear.h"

namespace plumbline::cuda {

/// Where an expert's rows begin, and how many they are.
struct Group {
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

__device__ __forceinline__ Group group_of(const ExpertRows& groups, std::int64_t expert) {
  Group group;
  for (std::int64_t before = 0; before < expert; ++before) group.first += groups.counts[before];
  group.rows = groups.counts[expert];
  return group;
}

}  // namespace plumbline::cuda
