#include <algorithm>

#include "core/plan/pipeline_schedule.h"
#include "planner/question/priced.h"
#include "tests/campaign/law.h"

namespace plumbline {

const Laws& all_laws() {
  static const Laws laws = [] {
    Laws all;
    for (const auto& group :
         {laws_of_totals, laws_of_memory, laws_of_machines, laws_of_communication, laws_of_agreement, laws_of_writing})
      for (Law& law : group()) all.push_back(std::move(law));
    return all;
  }();
  return laws;
}

namespace {

bool splits(const Subject& s) { return splits_backward(s.strategy().schedule); }

bool shares_whole_backwards(const Subject& s) { return s.strategy().zero_stage >= 2 && !splits(s); }

bool shares_states(const Subject& s) {
  return s.strategy().gradient_ranks() > 1 || s.strategy().expert_gradient_ranks() > 1;
}

bool waits_for_host(const Subject& s) {
  const std::vector<BlockCost> blocks = block_costs(s.question, s.strategy());
  const StageLayout layout = layout_of(s.question, s.strategy(), blocks);
  const StageTable stages(s.question.graph(), layout, blocks);
  return std::any_of(stages.distinct().begin(), stages.distinct().end(), [](const StageCost& stage) {
    return stage.forward_wait() + stage.backward_wait() > Picoseconds(0);
  });
}

bool has_steep_waves(const Subject& s) { return s.question.calibration().device.wave_exponent > 1; }

bool multiplies_in_few_bits(const Subject& s) { return bits(s.asked.training.formats().matmul) <= 8; }

bool offloads(const Subject& s) { return s.strategy().recompute.mode == RecomputeMode::offloaded; }

bool shares_network(const Subject& s) { return s.question.step_pricer().shares_network(s.strategy()); }

bool always(const Subject& /*subject*/) { return true; }

constexpr std::string_view order_of_split_backwards =
    "A schedule with a split backward has one order for all stage times; where a stage becomes faster or slower, what "
    "waits for what changes, as in Graham's anomalies of list scheduling.";
constexpr std::string_view last_bucket =
    "The last bucket of gradients takes its share of the rank's bytes at their mean rate; frozen parts that are "
    "reduced fast leave the slower ones.";
constexpr std::string_view waits_are_divided =
    "What the device waits for the host is divided over the two passes in proportion; as kernels get faster it moves "
    "from one to the other, and what hides beside them with it.";
constexpr std::string_view copies_are_replays =
    "What the forward pass does not hide of a copy to the host is booked with the backward; a faster forward moves "
    "time there, and what hides beside the passes with it.";
constexpr std::string_view messages_beside_reductions =
    "A message takes twice as long beside what its sender still reduces over the same network cards; sent later, it "
    "may find them free.";
constexpr std::string_view steep_waves =
    "The fitted exponent of wave quantisation is above 1 on some devices: a product that fills twice as much of an "
    "idle device then takes less time.";
constexpr std::string_view copies_in_few_bits =
    "In 8 bits or fewer recompute keeps a layer's input in 16 bits beside the quantised copy that it restores.";
constexpr std::string_view gathered_again =
    "Weight gradients of a split backward need whole sequences again, gathered beside all that waits for them.";
constexpr std::string_view slow_links =
    "Where links are slow beside compute, what reductions of one chunk delay on its rank, and messages that share "
    "network cards with them, are told by the simulation and not by the closed form (docs/simulate.md).";
constexpr std::string_view equal_ranks =
    "Ranks do equal work, or nearly; closed form and simulation may name another of them the busiest, whose causes "
    "stand for the step.";
constexpr std::string_view unchecked_split = "The balanced split is found by times without states that are shared.";

}  // namespace

const std::vector<KnownViolation>& known_violations() {
  static const std::vector<KnownViolation> known = [] {
    std::vector<KnownViolation> all{
        {"adapters", 0.05, order_of_split_backwards, splits},
        {"adapters", 0.05, steep_waves, has_steep_waves},
        {"frozen", 0.05, order_of_split_backwards, splits},
        {"frozen", 0.05, last_bucket, shares_whole_backwards},
        {"micro-batch-size", 0.2, steep_waves, has_steep_waves},
        {"sequence-length", 0.2, steep_waves, has_steep_waves},
        {"recompute-peak", 0.001, copies_in_few_bits, multiplies_in_few_bits},
        {"flash-attention", 0.001, copies_in_few_bits, multiplies_in_few_bits},
        {"sequence-parallel", 0.05, gathered_again, splits},
        {"simulated-step", 0.5, slow_links, shares_states},
        {"simulated-causes", 1, equal_ranks, waits_for_host},
        {"simulated-causes", 0.01, equal_ranks, splits},
        {"balanced-split", 0.1, unchecked_split, always},
        {"latency", 0.02, messages_beside_reductions, shares_network},
    };
    for (const std::string_view law :
         {"flop-rate", "memory-bandwidth", "interconnect", "network", "host-link", "everything"}) {
      all.push_back({law, 0.15, order_of_split_backwards, splits});
      all.push_back({law, 0.01, waits_are_divided, waits_for_host});
      all.push_back({law, 0.01, copies_are_replays, offloads});
    }
    for (const std::string_view law : {"sequence-length", "micro-batch-size", "micro-batch-count"})
      all.push_back({law, 0.06, order_of_split_backwards, splits});
    return all;
  }();
  return known;
}

}  // namespace plumbline
