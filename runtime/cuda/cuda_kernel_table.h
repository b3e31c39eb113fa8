#pragma once
/// \file cuda_kernel_table.h: the kernels of kernels/cuda as a device's table: launched on the thread's current stream.
///
/// Matrix products go through cuBLASLt where it is found (product_kernels.h).
/// Checked against: tests/cuda/training_test.cpp (whole steps against the CPU's kernels).

#include "runtime/device/device_kernels.h"

namespace plumbline {

[[nodiscard]] const DeviceKernels& cuda_kernel_table();

}  // namespace plumbline
