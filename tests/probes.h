#pragma once
/// \file probes.h: probes of one function (runtime/execution/execution_probe.h).

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

}  // namespace plumbline
