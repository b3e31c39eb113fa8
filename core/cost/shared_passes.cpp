#include "core/cost/shared_passes.h"

#include <algorithm>
#include <cmath>

#include "core/cost/once_per_step.h"
#include "core/cost/overlap.h"

namespace plumbline {
namespace {

/// `rest`: what the backward takes besides, whatever it waits.
HostWaits waits_of(const StageCost& stage, const SharedPass& forward, const SharedPass& backward, Picoseconds rest,
                   Picoseconds both_unshared) {
  const HostWaits most = stage.host_waits();
  if (most.total() == Picoseconds(0)) return most;
  const HostWaits least = stage.certain_host_waits();
  const Picoseconds forward_unshared = forward.compute + most.forward;
  HostWaits waits;
  waits.forward = forward.wait_for(forward_unshared, least.forward, most.forward);
  waits.backward = backward.wait_for(both_unshared - forward_unshared - rest, least.backward, most.backward);
  // What is exposed in one pass beyond its own lateness lets the host gain on the other.
  const auto other = [&](const SharedPass& pass, Picoseconds wait) { return both_unshared - rest - pass.time(wait); };
  waits.forward = forward.wait_for(other(backward, waits.backward), least.forward, waits.forward);
  waits.backward = backward.wait_for(other(forward, waits.forward), least.backward, waits.backward);
  return waits;
}

}  // namespace

Picoseconds SharedPass::time(Picoseconds wait) const {
  return alone + overlapped(compute + wait, beside, slowdown).end;
}

Picoseconds SharedPass::wait_for(Picoseconds time, Picoseconds least, Picoseconds most) const {
  const Picoseconds lost = part(beside, slowdown);
  Picoseconds needed(0);
  if (time >= alone + beside + lost)
    needed = time - alone - lost;
  else if (time > alone + beside)  // slowed all the while
    needed = Picoseconds(std::llround(std::ceil(static_cast<double>((time - alone - beside).value()) / slowdown)));
  return std::max(least, std::min(most, needed - compute));
}

RankTimes shared_passes(const StageCost& stage, const RankTimes& state_traffic, const StageSharing& sharing) {
  RankTimes times = state_traffic;
  const SharingTimes& shared = sharing.times;
  const Picoseconds first = part(shared.gather, unit_share(stage));
  const Picoseconds last = sharing.last_scatter;
  const Picoseconds backward_compute =
      stage.backward.total() + stage.recompute.total() + times.copying + times.accumulation;
  const Picoseconds weight_compute = stage.backward_weight + times.accumulation;
  const SharedPass forward{stage.forward.total() + times.copying, first, shared.gather - first, sharing.slowdown};
  const SharedPass backward{backward_compute, first + last, shared.gather + shared.scatter - first - last,
                            sharing.slowdown};
  // Parameters are needed for the gradients of inputs; gradients of parameters are reduced beside their making.
  const SharedPass input{backward_compute - weight_compute, first, shared.gather - first, sharing.slowdown};
  const SharedPass weight{weight_compute, last, shared.scatter - last, sharing.slowdown};

  times.backward_weight = weight.time(Picoseconds(0));
  const HostWaits waits =
      waits_of(stage, forward, sharing.splits_backward ? input : backward,
               sharing.splits_backward ? times.backward_weight : Picoseconds(0),
               stage.forward_total() + stage.backward_total() + std::int64_t{2} * times.copying + times.accumulation);
  times.forward_wait = waits.forward;
  times.backward_wait = waits.backward;
  times.forward = forward.time(waits.forward);
  times.gather_forward = times.forward - forward.compute - waits.forward;
  times.backward_input = input.time(waits.backward);
  if (sharing.splits_backward) {
    times.backward = times.backward_input + times.backward_weight;
    times.gather_backward = times.backward_input - input.compute - waits.backward;
    times.scatter = times.backward_weight - weight.compute;
    return times;
  }
  times.backward = backward.time(waits.backward);
  const Picoseconds exposed = times.backward - backward.compute - waits.backward;
  times.gather_backward = part(exposed, shared.gather / std::max(Picoseconds(1), shared.gather + shared.scatter));
  times.scatter = exposed - times.gather_backward;
  return times;
}

}  // namespace plumbline
