#include <algorithm>

#include "core/plan/pipeline_schedule.h"
#include "planner/pricing/priced.h"
#include "tests/campaign/law.h"

namespace plumbline {

const Laws& all_laws() {
  static const Laws laws = [] {
    Laws all;
    for (const auto& group : {laws_of_totals, laws_of_memory, laws_of_machines, laws_of_communication,
                              laws_of_agreement, laws_of_writing, later_laws_of_memory})
      for (Law& law : group()) all.push_back(std::move(law));
    return all;
  }();
  return laws;
}

namespace {

bool splits(const Subject& s) { return splits_backward(s.strategy().schedule); }

bool shares_whole_backwards(const Subject& s) { return s.strategy().zero_stage >= 2 && !splits(s); }

bool keeps_gradients(const Subject& s) { return s.question.kept_gradients(s.strategy()).has_value(); }

bool shares_states(const Subject& s) {
  return s.strategy().gradient_ranks() > 1 || s.strategy().expert_gradient_ranks() > 1;
}

StageTable stages_of(const Question& question, const StageLayout& layout, const std::vector<BlockCost>& blocks) {
  return {question.graph(), layout, blocks};
}

bool any_stage_waits(const Question& question, const Strategy& strategy) {
  const std::vector<BlockCost> blocks = block_costs(question, strategy);
  const StageLayout layout = layout_of(question, strategy, blocks);
  const StageTable stages = stages_of(question, layout, blocks);
  return std::any_of(stages.distinct().begin(), stages.distinct().end(), [](const StageCost& stage) {
    return stage.forward_wait() + stage.backward_wait() > Picoseconds(0);
  });
}

bool waits_for_host(const Subject& s) { return any_stage_waits(s.question, s.strategy()); }

/// At the highest rates that a law asks of the machine.
bool would_wait_for_host(const Subject& s) {
  constexpr double most = 10;
  Cluster faster = s.asked.machine.cluster;
  for (NodeGroup& group : faster.groups) {
    group.node.device.memory_bandwidth.value = most * group.node.device.memory_bandwidth.value;
    for (auto& [format, peak] : group.node.device.peaks) peak.value = most * peak.value;
  }
  return any_stage_waits(s.question, s.strategy()) || any_stage_waits(question_of(s.asked, faster), s.strategy());
}

bool reduces_during_every_backward(const Subject& s) { return shares_whole_backwards(s) && would_wait_for_host(s); }

bool waits_during_every_backward(const Subject& s) { return shares_whole_backwards(s) && waits_for_host(s); }

/// All that a rank keeps is restored for one backward: one layer is recomputed, or layers that are replayed together,
/// of one micro-batch. The last rank under 1F1B has one in flight.
bool restores_all_at_once(const Subject& s) {
  const Strategy& strategy = s.strategy();
  const bool has_one_in_flight = strategy.pipeline_stages == 1 || strategy.schedule == Schedule::one_f_one_b;
  const std::int64_t together = joins_layers(strategy.recompute) ? strategy.recompute.n : 1;
  return has_one_in_flight && s.plan.layout.stages.back().recomputed_layers <= together;
}

bool lists_frozen_products(const Subject& s) {
  const RecomputeMode mode = s.strategy().recompute.mode;
  return (mode == RecomputeMode::by_operator || mode == RecomputeMode::modules) &&
         s.asked.training.adaptation.lora_rank > 0;
}

bool is_divided_by_rows(const Block& block, TensorId tensor) {
  const OpId producer = block.producer(tensor);
  if (!producer.is_valid()) return false;
  const auto* linear = std::get_if<LinearAttributes>(&block.op(producer).attributes);
  return linear != nullptr && linear->partition == WeightPartition::row;
}

/// Attention and MLP read one norm and are summed: they have one gradient, which with sequence parallelism each of the
/// two last products gathers for itself.
bool has_parallel_parts(const Subject& s) {
  const std::vector<Block>& blocks = s.question.graph().blocks();
  return std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
    const std::vector<OpId> order = block.execution_order();
    return std::any_of(order.begin(), order.end(), [&](OpId id) {
      const Op& op = block.op(id);
      return op.kind == OpKind::add && op.inputs.size() == 2 &&
             std::all_of(op.inputs.begin(), op.inputs.end(),
                         [&](TensorId input) { return is_divided_by_rows(block, input); });
    });
  });
}

bool splits_parallel_parts(const Subject& s) { return splits(s) && has_parallel_parts(s); }

/// What reduce-scatters make and is kept outweighs the part of a layer's input that is not: of two slices always, of
/// four where a layer has three of them or little else is kept.
bool keeps_scattered_slices(const Subject& s, std::int32_t most_ranks) {
  return s.strategy().recompute.mode == RecomputeMode::by_operator && s.strategy().tensor_parallel <= most_ranks;
}
bool keeps_scattered_halves(const Subject& s) { return keeps_scattered_slices(s, 2); }
bool keeps_scattered_quarters(const Subject& s) { return keeps_scattered_slices(s, 4); }

/// Where a rank's peak has nothing kept from forward to backward: it looks up embeddings, or sums gradients.
bool peaks_without_activations(const Subject& s) {
  const auto& ranks = s.prediction().stage_memory;
  return std::any_of(ranks.begin(), ranks.end(),
                     [](const MemoryBreakdown& rank) { return rank[MemoryClass::activations] == Bytes(0); });
}

bool keeps_parts_by_keys(const Subject& s) {
  return s.question.calibration().stack.features.attention_scratch == AttentionScratch::parts_by_keys;
}

bool multiplies_in_few_bits(const Subject& s) { return bits(s.asked.training.formats().matmul) <= 8; }

bool keeps_more_of_others(const Subject& s) {
  const OptimizerFacts& optimizer = facts(s.asked.training.optimizer);
  return optimizer.other_states > optimizer.matrix_states || optimizer.quantizes_states;
}

/// Of several chunks on each rank.
bool shares_chunks(const Subject& s) { return shares_whole_backwards(s) && s.strategy().virtual_stages > 1; }

/// Below ZeRO-3.
bool keeps_weights_in_few_bits(const Subject& s) {
  return multiplies_in_few_bits(s) && s.question.calibration().stack.features.fp8_parameters == QuantizedWeights::alone;
}

/// Experts that no other rank holds are not divided: the ZeRO stage keeps them whole, in 16 bits.
bool keeps_whole_experts_in_few_bits(const Subject& s) {
  return keeps_weights_in_few_bits(s) && !s.question.facts().experts.empty() &&
         s.strategy().expert_gradient_ranks() == 1;
}

/// The same bytes beside smaller states.
bool keeps_whole_experts_and_few_moments(const Subject& s) {
  return keeps_whole_experts_in_few_bits(s) && facts(s.asked.training.optimizer).factors_squares;
}

bool splits_in_few_bits(const Subject& s) { return splits(s) && multiplies_in_few_bits(s); }

bool offloads(const Subject& s) { return s.strategy().recompute.mode == RecomputeMode::offloaded; }

/// At most two layers on each stage.
bool offloads_few_layers(const Subject& s) {
  return offloads(s) && s.question.graph().layer_count() <= 2 * std::int64_t{s.strategy().pipeline_stages};
}

bool joins_replays(const Subject& s) { return joins_layers(s.strategy().recompute); }

bool shares_network(const Subject& s) { return s.question.step_pricer().shares_network(s.strategy()); }

/// Messages of a rank, there and back, for a fifth of the step or longer.
bool queues_messages(const Subject& s) {
  constexpr double share = 0.2;
  const std::vector<BlockCost> blocks = block_costs(s.question, s.strategy());
  const StageLayout layout = layout_of(s.question, s.strategy(), blocks);
  const StageTable stages = stages_of(s.question, layout, blocks);
  Picoseconds hop(0);
  for (const StageLink& link : s.question.step_pricer().links(stages, s.strategy())) hop = std::max(hop, link.hop);
  // Forwards and backwards of all micro-batches, and of the first and the last one those that fill and drain.
  const std::int64_t passes =
      s.strategy().micro_batches * s.strategy().virtual_stages + s.strategy().pipeline_stages - 1;
  const double messages = 2. * static_cast<double>(passes);
  return shares_network(s) && messages * to_seconds(hop).value() >= share * to_seconds(s.step()).value();
}

constexpr std::string_view whole_bytes =
    "Layers that are replayed together are gathered one by one, by whole bytes; the closed form divides what they are "
    "of all exactly (docs/simulate.md).";
constexpr std::string_view order_of_split_backwards =
    "A schedule with a split backward has one order for all stage times; where a stage becomes faster or slower, what "
    "waits for what changes, as in Graham's anomalies of list scheduling.";
constexpr std::string_view last_bucket =
    "The last bucket of gradients takes its share of the rank's bytes at their mean rate; frozen parts that are "
    "reduced fast leave the slower ones, and fewer bytes a larger share of the latency.";
constexpr std::string_view waits_are_divided =
    "What the device waits for the host is divided over the two passes in proportion; as kernels get faster it moves "
    "from one to the other, and what hides alongside them with it.";
constexpr std::string_view latency_by_bytes =
    "Chunks share the latency of their rank's reductions by their trained bytes: without the embedding, which takes "
    "most of it, each chunk of layers takes more, and later ranks wait for it.";
constexpr std::string_view copies_hide =
    "Copies to the host hide alongside compute, forward and backward; a faster pass hides less of them, and what is "
    "gathered or reduced alongside it: the two are added, as if they could not run at the same time.";
constexpr std::string_view copies_that_stay =
    "Where a stage offloads nearly all that it keeps and holds one micro-batch, copies out and in are counted next to "
    "its layers although none are made: what is needed again at once stays on the device.";
constexpr std::string_view scratch_of_attention =
    "cuDNN's deterministic backward keeps a part of the queries' gradient for every 128 keys: four bytes a score of "
    "heads "
    "of 128 features, where scores in memory take two.";
constexpr std::string_view copies_in_few_bits =
    "In 8 bits or fewer recompute keeps a layer's input in 16 bits alongside the quantised copy that it restores.";
constexpr std::string_view gathered_again =
    "Weight gradients of a split backward need whole sequences again, gathered alongside all that waits for them.";
constexpr std::string_view gathered_twice =
    "Attention and MLP alongside each other have one gradient. With sequence parallelism the last product of each "
    "gathers it whole and holds its copy until the weight gradients; without, they share one.";
constexpr std::string_view listed_frozen_products =
    "Selective checkpointing by operator keeps what its list names, read by a backward or not. Products with frozen "
    "weights read no inputs, so that little is kept without it, and what a replay restores comes on top.";
constexpr std::string_view scattered_slices =
    "Recompute by operator keeps what reduce-scatters make, which there are with sequence parallelism only; over two "
    "ranks, or four where a layer has three sums, these slices are more than what it saves of a layer's input.";
constexpr std::string_view packed_gradients =
    "With sequence parallelism gradients of norms, positions and adapters are sums over a rank's own tokens, which are "
    "packed into one buffer once a step: of few tokens nothing else holds as much. A rank that holds the embedding "
    "alone has its whole result and a slice of it.";
constexpr std::string_view gradients_beside_forwards =
    "Gradients that wait for their chunk's last backward are there while later forwards of 1F1B run; all forwards of "
    "GPipe come before the first of them.";
constexpr std::string_view states_of_matrices =
    "An optimizer that keeps more of other parameters than of matrices fills the last rank, whose part of a unit has "
    "most "
    "of the others: of a larger unit that may be more than of several small ones.";
constexpr std::string_view outputs_of_attention =
    "Fused attention keeps its output in 16 bits, from which the weight gradients that a split backward puts off are "
    "made; without it the output is kept in 8 bits alone.";
constexpr std::string_view restored_at_once =
    "One recomputed layer of one micro-batch, or a row that is replayed together, is restored whole, alongside what "
    "the "
    "replay passes on.";
constexpr std::string_view peak_of_another_action =
    "Activations are those of the action at the peak; of a split backward, or of several chunks, that may be another "
    "one in each mode.";
constexpr std::string_view weights_in_few_bits =
    "Below ZeRO-3 this stack keeps weights of products in 8 bits alone; shards stay in 16 bits and are cast when they "
    "are "
    "gathered, so that few ranks hold more of them.";
constexpr std::string_view windows_of_backwards =
    "Gradients are reduced alongside the backward alone. As kernels get faster the host holds up the forward, and the "
    "backward that hides them gets shorter; what the device waits for the host and for gradients are added, though the "
    "host runs ahead meanwhile.";
constexpr std::string_view queued_messages =
    "Messages of a rank queue on the network cards that they share with its reductions: the simulation simulates the "
    "queue, the closed form has one latency for each.";
constexpr std::string_view reductions_on_cards =
    "What reductions of one chunk delay on its rank, and messages that share network cards with them, are told by the "
    "simulation and not by the closed form (docs/simulate.md).";
constexpr std::string_view delayed_chunks =
    "What reductions of one chunk delay on its rank is told by the simulation and not by the closed form "
    "(docs/simulate.md).";

}  // namespace

const std::vector<KnownViolation>& known_violations() {
  // Of the largest excess in 100 000 plans or more (docs/reliability.md), rounded up.
  static const std::vector<KnownViolation> known{
      {"frozen", 0.05, order_of_split_backwards, splits},
      {"frozen", 0.08, last_bucket, shares_whole_backwards},
      {"frozen", 0.01, last_bucket, shares_states},
      {"frozen", 0.21, latency_by_bytes, shares_chunks},
      {"adapters", 0.02, states_of_matrices, keeps_more_of_others},
      {"recompute-peak", 0.001, copies_in_few_bits, multiplies_in_few_bits},
      {"recompute-peak", 0.03, restored_at_once, restores_all_at_once},
      {"recompute-peak", 0.18, listed_frozen_products, lists_frozen_products},
      {"recompute-peak", 0.65, copies_that_stay, offloads_few_layers},
      {"recompute-activations", 0.04, peak_of_another_action, splits},
      {"flash-attention", 0.001, copies_in_few_bits, multiplies_in_few_bits},
      {"flash-attention", 0.012, outputs_of_attention, splits_in_few_bits},
      {"flash-attention", 0.05, scratch_of_attention, keeps_parts_by_keys},
      {"zero-stages", 0.08, weights_in_few_bits, keeps_whole_experts_in_few_bits},
      {"zero-stages", 0.12, weights_in_few_bits, keeps_whole_experts_and_few_moments},
      {"layer-units", 0.01, states_of_matrices, keeps_more_of_others},
      {"gpipe", 0.05, gradients_beside_forwards, keeps_gradients},
      {"sequence-parallel", 0.04, gathered_twice, splits_parallel_parts},
      {"sequence-parallel", 0.02, gathered_again, splits},
      {"sequence-parallel", 0.11, scattered_slices, keeps_scattered_halves},
      {"sequence-parallel", 0.04, scattered_slices, keeps_scattered_quarters},
      {"sequence-parallel", 0.03, packed_gradients, peaks_without_activations},
      {"exposed-transfers", 0.000001, whole_bytes, joins_replays},
      {"simulated-step", 0.55, queued_messages, queues_messages},
      {"simulated-step", 0.12, reductions_on_cards, shares_network},
      {"simulated-step", 0.04, delayed_chunks, shares_states},
      {"flop-rate", 0.04, windows_of_backwards, reduces_during_every_backward},
      {"flop-rate", 0.02, waits_are_divided, would_wait_for_host},
      {"flop-rate", 0.03, copies_hide, offloads},
      {"flop-rate", 0.2, order_of_split_backwards, splits},
      {"memory-bandwidth", 0.035, waits_are_divided, would_wait_for_host},
      {"memory-bandwidth", 0.01, copies_hide, offloads},
      {"memory-bandwidth", 0.03, order_of_split_backwards, splits},
      {"interconnect", 0.025, waits_are_divided, would_wait_for_host},
      {"interconnect", 0.01, order_of_split_backwards, splits},
      {"network", 0.01, waits_are_divided, would_wait_for_host},
      {"host-link", 0.01, waits_are_divided, would_wait_for_host},
      {"everything", 0.01, waits_are_divided, would_wait_for_host},
      {"everything", 0.12, order_of_split_backwards, splits},
      {"micro-batch-size", 0.011, waits_are_divided, waits_for_host},
      {"micro-batch-size", 0.07, windows_of_backwards, waits_during_every_backward},
      {"micro-batch-size", 0.1, order_of_split_backwards, splits},
      {"sequence-length", 0.011, waits_are_divided, waits_for_host},
      {"sequence-length", 0.04, windows_of_backwards, waits_during_every_backward},
      {"sequence-length", 0.06, order_of_split_backwards, splits},
  };
  return known;
}

}  // namespace plumbline
