#include "planner/explain/bottleneck.h"

#include <algorithm>

#include "core/quantity/text.h"

namespace plumbline {
namespace {

std::string_view name_of(TimeCause cause) {
  switch (cause) {
    case TimeCause::compute: return "the model's arithmetic";
    case TimeCause::recompute: return "recomputed activations";
    case TimeCause::offload: return "exposed copies of activations to host memory and back";
    case TimeCause::tensor_parallel: return "exposed tensor-parallel communication";
    case TimeCause::context_parallel: return "exposed context-parallel communication";
    case TimeCause::expert_parallel: return "exposed expert-parallel communication";
    case TimeCause::data_parallel: return "exposed reduction of gradients and gathering of parameters";
    case TimeCause::pipeline_bubble: return "the pipeline bubble";
    case TimeCause::optimizer: return "the optimizer step";
    case TimeCause::step_overhead: return "the overhead of each step";
  }
  return "";
}

std::string_view remedy_for(TimeCause cause) {
  switch (cause) {
    case TimeCause::compute: return "a larger micro-batch or less tensor parallelism makes larger matrix products";
    case TimeCause::recompute: return "memory to spare would allow less of it";
    case TimeCause::offload: return "fewer offloaded layers copy less";
    case TimeCause::tensor_parallel: return "a smaller tensor-parallel degree sends less";
    case TimeCause::context_parallel: return "a smaller context-parallel degree sends less";
    case TimeCause::expert_parallel: return "a smaller expert-parallel degree, or one inside a node, sends less";
    case TimeCause::data_parallel: return "more micro-batches per step or a lower ZeRO stage send less often";
    case TimeCause::pipeline_bubble: return "more micro-batches, fewer stages or more virtual stages shrink it";
    case TimeCause::optimizer: return "sharding the optimizer's states divides it";
    case TimeCause::step_overhead: return "a larger global batch spreads it";
  }
  return "";
}

std::string share_of(const TimeBreakdown& time, TimeCause cause) {
  const double share = time.total() == Picoseconds(0) ? 0 : time[cause] / time.total();
  return fixed(100 * share, 1) + " %";
}

}  // namespace

std::string bottleneck_sentence(const Plan& plan) {
  const TimeBreakdown& time = plan.prediction.time;
  const auto largest = [&](std::size_t from) {
    const auto begin = time.by_cause.begin();
    return static_cast<TimeCause>(std::max_element(begin + static_cast<std::ptrdiff_t>(from), time.by_cause.end()) -
                                  begin);
  };
  const TimeCause loss = largest(static_cast<std::size_t>(TimeCause::recompute));
  const std::string arithmetic =
      std::string(name_of(TimeCause::compute)) + " takes " + share_of(time, TimeCause::compute) + " of the step";
  if (time[loss] == Picoseconds(0)) return arithmetic + " and nothing else is exposed";
  if (time[loss] > time[TimeCause::compute])
    return std::string(name_of(loss)) + " holds the step back: " + share_of(time, loss) + ", against " +
           share_of(time, TimeCause::compute) + " of arithmetic; " + std::string(remedy_for(loss));
  return arithmetic + " and runs at " +
         fixed(100 * plan.prediction.mfu * (time.total() / time[TimeCause::compute]), 1) +
         " % of the devices' peak; the largest loss alongside it is " + std::string(name_of(loss)) + ", " +
         share_of(time, loss) + "; " + std::string(remedy_for(loss));
}

}  // namespace plumbline
