#pragma once
/// \file device_memory.h: memory of the thread's GPU, until the last holder lets go.
///
/// Checked against: tests/cuda/cuda_device_test.cpp.

#include "runtime/cuda/memory_meter.h"
#include "runtime/device/compute_device.h"

namespace plumbline {

/// At least one byte, aligned to 256 as cudaMalloc aligns; counted for the thread's account (memory_meter.h). Throws
/// CudaOutOfMemory with what is asked and what is free.
[[nodiscard]] DeviceMemory reserve_device_memory(Bytes bytes, MemoryUse use);

}  // namespace plumbline
