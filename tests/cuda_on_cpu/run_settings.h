#pragma once
/// \file run_settings.h: what the functions of control.h set, for the files that read it. Not for tests or kernels.
///
/// Checked against: tests/cuda_on_cpu/streams_test.cpp.

#include "tests/cuda_on_cpu/control.h"

namespace cuda_on_cpu {

struct RunSettings {
  ThreadOrder thread_order = ThreadOrder::forward;
  unsigned seed = 1;
  DeviceDescription device;
};
RunSettings& run_settings();

}  // namespace cuda_on_cpu
