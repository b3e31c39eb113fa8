#pragma once
/// \file default_stack.h: the software stack that answers a question for which nobody named one.
///
/// Model: of the frameworks that train such a network with such a recipe on such devices, the one whose current
/// releases were measured nearest to the question. Nearness is the standard deviation that a stack would state of step
/// times: its residual, and what lies outside of its runs by the slopes of core/cost/extrapolation.h, namely doublings
/// of GPUs, width and sequence, a device, a number format and a kind of network without a run, and several GPUs where
/// one alone was measured, which says nothing of collectives. A stack without runs comes behind all that have some.
/// Mixtures of experts on several GPUs ask for a framework that divides experts.
/// Adapters are launched with PEFT under Accelerate: no current release was measured with any (decision 0100).
/// Not modelled: axes of a strategy, which nobody knows yet; the device's own residual, which all share.
/// Checked against: tests/unit/planner/question/default_stack_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/machine/cluster.h"
#include "core/plan/legality.h"
#include "core/training/training.h"
#include "planner/frameworks/framework.h"

namespace plumbline {

/// A framework's current releases as an answer to a question.
struct StackCandidate {
  Framework framework = Framework::any;
  std::string stack;  ///< that prices them (FrameworkRecord::current_stack)
  bool was_measured = false;
  double time_sigma = 0;  ///< of log(predicted / measured), without the device's own
};

struct DefaultStack {
  std::vector<StackCandidate> candidates;  ///< at least one, the nearest first
  std::string why;                         ///< the first: "of current releases it was measured nearest"

  [[nodiscard]] const StackCandidate& taken() const { return candidates.front(); }
};

/// `graph` and `facts` as the catalogue has them; adapters are in `training`. Processes on a computer's cores run this
/// program's own runtime.
[[nodiscard]] DefaultStack default_stack(const Graph& graph, const Divisibility& facts, const Training& training,
                                         const Cluster& cluster);

/// In which format gradients are kept where nobody says: as the stack states, else, of bf16 weights beside masters,
/// as the framework that drives it does, else the recipe's. Throws InputError for an unknown stack.
[[nodiscard]] NumberFormat default_gradients(std::string_view stack, PrecisionRecipe precision);

}  // namespace plumbline
