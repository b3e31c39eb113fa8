#pragma once
/// \file rank_device.h: what a rank computes with: memory, lanes with their kernels, and calls of its groups on them.
///
/// Checked against: tests/runtime/execution.

#include "runtime/execution/group_calls.h"

namespace plumbline {

struct RankDevice {
  RankDevice(RankGroups& groups, Backend& backend, ComputeDevice& device)
      : memory(backend), lanes(device), calls(groups, backend, device) {}

  Backend& memory;
  ComputeDevice& lanes;
  GroupCalls calls;
};

}  // namespace plumbline
