#pragma once
/// \file action_lanes.h: what each action of a rank's program waits for before it runs, and on which lane it runs.
///
/// Model: gathers of parameters and reductions of gradients are the data lane's, copies to the host and back the copy
/// lane's; everything else is the compute lane's, which is the rank's own thread. An action that is issued in order is
/// waited for; one that runs alongside others is given to its lane when the action that it starts with, or behind,
/// does. Nothing is decided here: what is waited for is Action::needs. Collectives inside of blocks have lanes by their
/// instructions (core/program/block_lanes.h). Source: core/program/link_pass.cpp. Checked against:
/// tests/runtime/execution/lanes_threads_test.cpp.

#include <vector>

#include "core/program/program.h"
#include "runtime/device/compute_device.h"

namespace plumbline {

class ActionLanes {
 public:
  ActionLanes(const RankProgram& rank, ComputeDevice& device)
      : rank_(rank), device_(device), ended_(rank.actions.size()), is_issued_(rank.actions.size()) {}

  void begin_step();
  [[nodiscard]] static Stream lane_of(const Action& action) {
    switch (action.kind()) {
      case ActionKind::all_gather_parameters:
      case ActionKind::reduce_gradients: return Stream::data;
      case ActionKind::offload:
      case ActionKind::fetch: return Stream::copy;
      default: return Stream::compute;
    }
  }
  [[nodiscard]] bool is_issued(std::int32_t index) const { return is_issued_[static_cast<std::size_t>(index)]; }
  /// Those that start with an action in order; behind the first one that starts later its lane would wait.
  [[nodiscard]] std::vector<std::int32_t> starting_with(std::int32_t index) const;
  /// Its lane waits for what it needs, and for the last that was issued in order. The caller does not.
  void begin(std::int32_t index);
  /// Its work was given to its lane.
  void end(std::int32_t index);
  /// What is computed from here on waits for an action that was given to its lane.
  void wait_for(std::int32_t index) { device_.wait(Stream::compute, ended_[static_cast<std::size_t>(index)]); }
  /// What is computed from here on waits for all lanes.
  void join();

 private:
  [[nodiscard]] const Action& action(std::int32_t index) const {
    return rank_.actions[static_cast<std::size_t>(index)];
  }
  const RankProgram& rank_;
  ComputeDevice& device_;
  std::vector<Mark> ended_;  ///< by action
  std::vector<bool> is_issued_;
  Mark last_in_order_;
};

}  // namespace plumbline
