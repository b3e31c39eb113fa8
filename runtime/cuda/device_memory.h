#pragma once
/// \file device_memory.h: memory of the thread's GPU, until the last holder lets go.
///
/// Checked against: tests/cuda/cuda_device_test.cpp.

#include "runtime/device/compute_device.h"

namespace plumbline {

/// At least one byte, aligned to 256 as cudaMalloc aligns. Throws CudaOutOfMemory with what is asked and what is free.
[[nodiscard]] DeviceMemory reserve_device_memory(Bytes bytes);

}  // namespace plumbline
