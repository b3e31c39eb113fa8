#pragma once
/// \file cpu_kernels.h: the kernels of this computer's CPU (kernels/reference), as a device's table.
///
/// Checked against: tests/runtime/device/device_kernels_threads_test.cpp.

#include "runtime/device/device_kernels.h"

namespace plumbline {

[[nodiscard]] const DeviceKernels& cpu_kernels();

}  // namespace plumbline
