#include "kernels/step_decision.h"

#include <limits>

#include "kernels/adagrad.h"
#include "kernels/adamw.h"
#include "kernels/lion.h"
#include "kernels/muon.h"
#include "kernels/rmsprop.h"
#include "kernels/sgd.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

bool is_same(const StepDecision& a, const StepDecision& b) {
  return a.factor == b.factor && a.is_taken == b.is_taken && a.update == b.update;
}

/// The decision on both, which is the same; `broken`: of this rank a gradient is not finite.
BothArray<StepDecision> decided(cudaStream_t stream, std::int64_t ranks, double clip, std::int64_t broken = -1) {
  std::vector<StepTotals> totals;
  const std::vector<float> squares = random_values(ranks, 3);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    totals.push_back({{1.5, 2}, {std::abs(squares[static_cast<std::size_t>(rank)]), rank == broken ? 1 : 0}, 0});
  const BothArray<StepTotals> both(totals);
  BothArray<StepDecision> decision(1, StepDecision{});
  constexpr LossScaleRule rule{1024, 1, 2048, 6};
  BothArray<StepState> state(std::vector<StepState>{{{1024, 5, 2}, 6}});
  reference::decide_step({both.host(), ranks, clip, rule, state.host(), decision.host()});
  cuda::decide_step({both.device(), ranks, clip, rule, state.device(), decision.device()}, stream);
  finish(stream);
  CHECK(is_same(decision.on_device()[0], *decision.host()));
  CHECK(state.on_device()[0] == *state.host());
  CHECK(state.host()->loss_scale.scale == (broken >= 0 ? 512 : 2048));
  return decision;
}

TEST_CASE("The device decides as the CPU does, to the bit") {
  on_both([](cudaStream_t stream) {
    for (const std::int64_t ranks : {1, 3, 5, 6, 70}) {
      CHECK(decided(stream, ranks, 0).host()->factor == 1.0F / 1024);
      CHECK(decided(stream, ranks, 1e-5).host()->factor < 1.0F / 1024);
      CHECK(decided(stream, ranks, 1, ranks - 1).host()->is_taken == 0);
    }
  });
}

/// A parameter of every optimizer, whose step is decided by the device.
struct Decided {
  Decided(cudaStream_t on, const BothArray<StepDecision>& by) : stream(on), decision(by) {}

  [[nodiscard]] OptimizedParameter of(const TensorView& p, const TensorView& g, const StepDecision* by) const {
    return {.parameter = p, .gradient = g, .gradient_factor = 2, .learning_rate = 0.01F, .decision = by};
  }
  OptimizedParameter host() { return of(weight.host(), gradient.host(), decision.host()); }
  OptimizedParameter device() { return of(weight.device(), gradient.device(), decision.device()); }
  [[nodiscard]] std::vector<std::vector<std::byte>> values() const {
    return {weight.on_device(), first.on_device(), second.on_device()};
  }

  /// Each optimizer's step on both, behind the others'.
  void step(std::size_t which) {
    switch (which) {
      case 0:
        reference::sgd_step({host(), first.host(), 0.9F});
        return cuda::sgd_step({device(), first.device(), 0.9F}, stream);
      case 1:
        reference::adagrad_step({host(), second.host()});
        return cuda::adagrad_step({device(), second.device()}, stream);
      case 2:
        reference::rmsprop_step({host(), second.host()});
        return cuda::rmsprop_step({device(), second.device()}, stream);
      case 3: reference::lion_step({host(), first.host()}); return cuda::lion_step({device(), first.device()}, stream);
      case 4:
        reference::adamw_step({host(), first.host(), second.host()});
        return cuda::adamw_step({device(), first.device(), second.device()}, stream);
      default: return muon_step();
    }
  }
  void muon_step() {
    MuonStep on_host{.parameter = host(), .momentum_state = first.host()};
    MuonStep on_device{.parameter = device(), .momentum_state = first.device()};
    WorkspaceMemory memory(reference::muon_workspace(on_host));
    on_host.workspace = memory;
    on_device.workspace = device_workspace(cuda::muon_workspace(on_device));
    reference::muon_step(on_host);
    cuda::muon_step(on_device, stream);
  }

  cudaStream_t stream;
  const BothArray<StepDecision>& decision;
  BothTensor weight = random_both(5, 16, 1);
  BothTensor gradient = random_both(5, 16, 2);
  BothTensor first = random_both(5, 16, 3);
  BothTensor second{5, 16, NumberFormat::fp32, std::vector<float>(80, 0.5F)};
};
constexpr std::size_t optimizers = 6;

TEST_CASE("Every optimizer multiplies by the factor that was decided, and leaves what is not taken") {
  on_both([](cudaStream_t stream) {
    for (const bool is_taken : {true, false}) {
      const BothArray<StepDecision> decision = decided(stream, 3, 1e-5, is_taken ? -1 : 1);
      for (std::size_t which = 0; which < optimizers; ++which) {
        INFO(which << (is_taken ? " taken" : " left out"));
        Decided p(stream, decision);
        const auto before = p.values();
        p.step(which);
        finish(stream);
        CHECK((p.values() == before) == !is_taken);
        CHECK(p.weight.error() <= 1e-4);
        CHECK(p.first.error() <= 1e-6);
        CHECK(p.second.error() <= 1e-6);
      }
    }
  });
}

}  // namespace
}  // namespace plumbline
