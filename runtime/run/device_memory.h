#pragma once
/// \file device_memory.h: what a rank took of its device, for its record.
///
/// Model: all ranks ask behind the last step, while each still holds what it took. Checked against:
/// tests/cuda/device_memory_test.cpp.

#include <optional>

#include "core/measurement/device_memory.h"
#include "runtime/communication/communicator.h"
#include "runtime/execution/backend.h"

namespace plumbline {

/// None on devices without memory of their own. All ranks call it.
[[nodiscard]] std::optional<DeviceMemoryRecord> device_memory(const ComputeDevice& device, const Backend& backend,
                                                              Communicator& everyone);

}  // namespace plumbline
