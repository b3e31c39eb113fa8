#pragma once
/// \file default_stack.h: the software stack that prices a machine where nobody names one.

#include <string_view>

#include "core/machine/cluster.h"
#include "models/calibration_catalog.h"

namespace plumbline {

/// Processes on a computer's cores run this program's own runtime.
[[nodiscard]] inline std::string_view usual_stack(const Cluster& cluster) {
  return slowest_device(cluster).architecture == DeviceArchitecture::cpu ? own_stack : default_stack;
}

}  // namespace plumbline
