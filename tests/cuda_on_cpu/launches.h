#pragma once
/// \file launches.h: what launches remember of kernels. Not for tests or kernels.
///
/// Checked against: tests/cuda_on_cpu/streams_test.cpp.

namespace cuda_on_cpu {

/// Kernels' own limits of dynamic shared memory (cudaFuncSetAttribute), and how many were launched.
void forget_launches();

}  // namespace cuda_on_cpu
