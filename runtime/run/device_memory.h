#pragma once
/// \file device_memory.h: what a rank took of its device, for its record.
///
/// Model: the device is asked after the last step, between two barriers, so that all ranks still hold their memory.
/// Checked against: tests/cuda/device_memory_test.cpp.

#include <optional>

#include "core/measurement/device_memory.h"
#include "runtime/communication/communicator.h"
#include "runtime/execution/backend.h"

namespace plumbline {

/// None on devices without memory of their own. All ranks call it.
[[nodiscard]] std::optional<DeviceMemoryRecord> device_memory(const ComputeDevice& device, const Backend& backend,
                                                              Communicator& everyone);

}  // namespace plumbline
