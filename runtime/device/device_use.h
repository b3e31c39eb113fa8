#pragma once
/// \file device_use.h: bytes that were taken of a device with memory of its own, as the device counts them.
///
/// Answers: those that CUDA took for the process, and those that a rank's own calls took. Source:
/// core/measurement/device_memory.h. Checked against: tests/cuda/device_memory_test.cpp.

#include <cstdint>

#include "core/quantity/quantity.h"

namespace plumbline {

struct DeviceUse {
  // Of the process.
  Bytes context{0};
  Bytes modules{0};
  // Of the rank.
  Bytes libraries{0};
  Bytes communication{0};
  Bytes reserved{0};  ///< by ComputeDevice::reserve, as asked
  Bytes rounding{0};  ///< what the device gave beyond what was asked of it
  // Of the device.
  Bytes peak{0};    ///< without trials
  Bytes trials{0};  ///< beyond the peak
  std::int32_t ranks = 1;
};

}  // namespace plumbline
