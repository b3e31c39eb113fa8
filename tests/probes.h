#pragma once
/// \file probes.h: probes of one function each (runtime/execution/execution_probe.h).

#include <utility>

#include "runtime/execution/execution_probe.h"

namespace plumbline {

/// Calls `act(rank, step, action)` before each action.
template <class Act>
class ActionProbe : public ExecutionProbe {
 public:
  explicit ActionProbe(Act act) : act_(std::move(act)) {}
  void on_action(std::int32_t rank, std::int64_t step, std::int32_t action) override { act_(rank, step, action); }

 private:
  Act act_;
};

/// Calls `change(block)` with the instructions of each execution of a block.
template <class Change>
class LoweringProbe : public ExecutionProbe {
 public:
  explicit LoweringProbe(Change change) : change_(std::move(change)) {}
  void on_lowered(BlockProgram& block) override { change_(block); }

 private:
  Change change_;
};

}  // namespace plumbline
