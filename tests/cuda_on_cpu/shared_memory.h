#pragma once
/// \file shared_memory.h: the shared memory of the block that runs. Not for tests or kernels.
///
/// Checked against: tests/cuda_on_cpu/thread_block_test.cpp.

#include <cstddef>

namespace cuda_on_cpu {

/// As much as one block of sm_90 may ask for. Source: CUDA C++ Programming Guide 13.0, table 27.
inline constexpr std::size_t most_dynamic_shared = std::size_t{227} * 1024;

/// `bytes` that end at a guard page, aligned to 16; at most the above.
std::byte* place_dynamic_shared(std::size_t bytes);

/// All bytes of shared memory, static and dynamic, become 0xff: NaNs.
void forget_shared(std::byte* dynamic, std::size_t bytes);

}  // namespace cuda_on_cpu
