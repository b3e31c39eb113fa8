#include "runtime/execution/step_scalars.h"

#include "runtime/device/device_kernels.h"

namespace plumbline {
StepScalars::StepScalars(Communicator& everyone, Backend& memory, ComputeDevice& device)
    : everyone_(everyone), device_(device) {
  state_ = static_cast<StepState*>(memory.reserve(size()));
  all_ = reinterpret_cast<StepTotals*>(state_ + 1);
  decision_ = static_cast<StepDecision*>(memory.reserve(Bytes(sizeof(StepDecision))));
  on_host_ = device.reserve_host(size());
}

void StepScalars::set(const StepState& state) { device_.upload(Stream::compute, state_, &state, Bytes(sizeof state)); }

void StepScalars::begin() { device_.fill(Stream::compute, own(), std::byte{0}, Bytes(sizeof(StepTotals))); }

void StepScalars::decide(const LossScaleRule& rule, double clip_norm, std::int64_t stop_signal) {
  if (stop_signal != 0) device_.upload(Stream::compute, &own()->stop_signal, &stop_signal, Bytes(sizeof stop_signal));
  device_.enqueue(Stream::compute, [this] {
    const std::span all(all_, rank_count());
    everyone_.all_gather(std::as_bytes(std::span(own(), 1)), std::as_writable_bytes(all), ElementFormat::bytes);
  });
  device_.kernels().decide_step({.ranks = all_,
                                 .count = static_cast<std::int64_t>(rank_count()),
                                 .clip_norm = clip_norm,
                                 .rule = rule,
                                 .state = state_,
                                 .decision = decision_});
  device_.download(Stream::compute, on_host_.get(), state_, size());
}

StepTotals StepScalars::read_own() {
  device_.download(Stream::compute, on_host_totals(), own(), Bytes(sizeof(StepTotals)));
  device_.finish_all();
  return *on_host_totals();
}

}  // namespace plumbline
