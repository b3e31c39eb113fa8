#pragma once
/// \file faults.h: accesses to pages that nobody may touch, while a kernel runs.
///
/// Not for tests or kernels. Checked against: tests/cuda_on_cpu/thread_block_test.cpp.

#include <functional>

namespace cuda_on_cpu {

/// Runs `body`; false where an access outside of memory ended it. What `body` and its fibers hold is not destroyed
/// then.
bool run_watching_for_faults(const std::function<void()>& body);

}  // namespace cuda_on_cpu
