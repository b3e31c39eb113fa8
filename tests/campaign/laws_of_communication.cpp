#include "core/cost/quantisation.h"
#include "core/cost/stage_cost.h"
#include "core/sharding/collective.h"
#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"
#include "tests/campaign/law_questions.h"

namespace plumbline {
namespace {

const CommunicationLine* line_of(const Plan& plan, std::string_view group, std::string_view collective) {
  for (const CommunicationLine& line : plan.prediction.communication)
    if (line.group == group && line.collective == collective) return &line;
  return nullptr;
}

Bytes sent(const Plan& plan, std::string_view group, std::string_view collective) {
  const CommunicationLine* line = line_of(plan, group, collective);
  return line == nullptr ? Bytes(0) : line->bytes_per_step;
}

/// One stage that trains all it holds and has no experts: what it shares follows from its parameters.
bool is_one_dense_stage(const Subject& s) {
  return s.strategy().pipeline_stages == 1 && s.question.facts().experts.empty() &&
         s.asked.training.adaptation == Adaptation{};
}

/// Of the parameters that an update gathers: matrices that are in 8 bits themselves, with a scale for each tensor, are
/// sent so, norms and biases as others are.
NumberFormat least_updated_format(const Subject& s) {
  const PrecisionFormats formats = s.question.training().formats();
  const bool is_few_bits = s.question.calibration().stack.features.fp8_parameters == QuantizedWeights::alone &&
                           s.strategy().zero_stage < 3 && is_quantized(formats.matmul) &&
                           formats.matmul != NumberFormat::fp4 && scales_tensors(formats.scaling);
  return is_few_bits ? formats.matmul : formats.weight;
}

Bytes stored(std::int64_t values, NumberFormat format) { return Bytes((values * bits(format) + 7) / 8); }

void lines_have_groups(const Subject& s, Finding& f) {
  for (const CommunicationLine& line : s.prediction().communication) {
    f.expect(line.bytes_per_step > Bytes(0) && line.time >= Seconds(0), line.group + " sends and takes time");
    std::int64_t ranks = 1;  // experts talk along both of their axes
    for (const GroupLayout& group : s.plan.layout.groups)
      if (group.axis == line.group || (line.group == "expert" && group.axis == "expert_tensor")) ranks *= group.size;
    f.expect(ranks > 1, line.group + " is more than one rank");
  }
}

void gradients_by_formula(const Subject& s, Finding& f) {
  if (!is_one_dense_stage(s)) return;
  const Strategy& strategy = s.strategy();
  const PrecisionFormats formats = s.question.training().formats();
  const std::int64_t parameters = s.plan.layout.stages.front().parameters_per_rank;
  const std::int32_t ranks = strategy.gradient_ranks();
  const std::int64_t padded = parameters + most_padding(s, ranks);
  // Units are padded to what ranks divide: no less than the formula, no more than it with the most padding.
  struct Formats {
    NumberFormat least;
    NumberFormat most;
  };
  const auto expect_volume = [&](const char* group, Collective kind, const char* name, std::int64_t times,
                                 Formats stored_as, std::int64_t part, std::int32_t members,
                                 std::int64_t times_again = 0) {
    const Bytes bytes = sent(s.plan, group, name);
    const auto volume = [&](std::int64_t values, NumberFormat format, std::int64_t count) {
      return count * wire_bytes(kind, stored(values, format) / part, members);
    };
    f.expect_at_most(volume(parameters, stored_as.least, times), bytes,
                     std::string(name) + " of " + group + " by the formula");
    f.expect_at_most(bytes, volume(padded, stored_as.most, times + times_again),
                     std::string(name) + " of " + group + " with the most padding");
  };
  const Formats reduced{formats.reduction, formats.reduction};
  const Formats weights{least_updated_format(s), formats.weight};
  if (strategy.zero_stage == 0)
    return expect_volume("gradient", Collective::all_reduce, "all_reduce", 1, reduced, 1, ranks);
  const std::int64_t reductions = strategy.zero_stage >= 2 ? strategy.micro_batches : 1;
  const bool is_secondary = strategy.secondary_shard_group > 1;
  const std::int64_t passes = is_secondary ? 1 : 2;
  const std::int64_t gathers = strategy.zero_stage >= 3 ? passes * strategy.micro_batches : 1;
  // What recompute lets go of is gathered a third time, as are layers that are replayed ahead of others: at most all.
  const bool lets_go =
      strategy.zero_stage >= 3 && strategy.recompute.mode != RecomputeMode::none &&
      (s.question.calibration().stack.sharding.regathered_from_elements > 0 || joins_layers(strategy.recompute));
  const std::int64_t regathers = lets_go ? strategy.micro_batches : 0;
  const std::int32_t group = strategy.shard_group;
  expect_volume("shard", Collective::reduce_scatter, "reduce_scatter", reductions, reduced, 1, group);
  expect_volume("shard", Collective::all_gather, "all_gather", gathers, weights, 1, group,
                is_secondary ? 0 : regathers);
  if (is_secondary)
    expect_volume("secondary_shard", Collective::all_gather, "all_gather", strategy.micro_batches, weights, 1,
                  strategy.secondary_shard_group, regathers);
  expect_volume("replicate", Collective::all_reduce, "all_reduce", 1, reduced, group, ranks / group);
}

/// An all-reduce is a reduce-scatter and an all-gather of the same bytes.
void sharding_once_sends_as_much(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  const PrecisionFormats formats = s.question.training().formats();
  if (!is_one_dense_stage(s) || other.zero_stage != 1 || chooses(other) || formats.reduction != formats.weight) return;
  if (other.shard_group != other.gradient_ranks()) return;
  other.zero_stage = 0;
  other.shard_group = 1;
  const auto replicated = plan_of(s, other);
  if (!replicated) return;
  const Bytes once = sent(s.plan, "shard", "reduce_scatter") + sent(s.plan, "shard", "all_gather");
  const Bytes whole = sent(*replicated, "gradient", "all_reduce");
  f.expect(std::abs(once.value() - whole.value()) <= 1, "ZeRO-1 sends what an all-reduce sends");
}

void micro_batches_multiply_what_they_send(const Subject& s, Finding& f) {
  if (chooses(s.strategy())) return;
  const auto twice = plan_with_training(s, [](Training& t, Strategy& other) {
    other.micro_batches *= 2;
    t.global_batch *= 2;
  });
  if (!twice) return;
  for (const CommunicationLine& line : s.prediction().communication)
    if (line.group == "tensor" || line.group == "context" || line.group == "expert" || line.group == "pipeline")
      f.expect_equal(sent(*twice, line.group, line.collective), 2 * line.bytes_per_step,
                     line.group + " of twice the micro-batches");
}

void messages_follow_the_schedule(const Subject& s, Finding& f) {
  const Strategy& strategy = s.strategy();
  if (strategy.pipeline_stages == 1) return;
  const std::int64_t bytes = sent(s.plan, "pipeline", "send_receive").value();
  f.expect(bytes > 0, "stages send to each other");
  f.expect_equal(bytes % (2 * strategy.micro_batches * strategy.virtual_stages), std::int64_t{0},
                 "messages of equal size, there and back for every chunk and micro-batch");
}

/// Sequence parallelism sends what an all-reduce sends, in two halves, and shortens messages between stages.
void sequence_parallelism_sends_as_much(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  if (other.sequence_parallel == SequenceParallel::off || chooses(other)) return;
  other.sequence_parallel = SequenceParallel::off;
  const auto without = plan_of(s, other);
  if (!without) return;
  f.expect_at_most(sent(s.plan, "pipeline", "send_receive"), sent(*without, "pipeline", "send_receive"),
                   "messages between stages");
}

void recompute_sends_no_less(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  if (other.recompute.mode == RecomputeMode::none || chooses(other)) return;
  other.recompute = {};
  const auto none = plan_of(s, other);
  if (!none) return;
  for (const CommunicationLine& line : none->prediction.communication)
    f.expect_at_most(line.bytes_per_step, sent(s.plan, line.group, line.collective), line.group + " with recompute");
}

constexpr std::int64_t most_simulated_passes = 3000;

/// What shares the states of every rank, one transfer after another, with the messages of a rank where they take the
/// same network cards: they wait for each other there. Of one stage that is reduced once, as it is listed.
Picoseconds state_transfers_alone(const Subject& s) {
  const Strategy& strategy = s.strategy();
  const StepPricer& steps = s.question.step_pricer();
  if (strategy.pipeline_stages == 1 && strategy.zero_stage <= 1) {
    Seconds listed(0);
    for (const CommunicationLine& line : s.prediction().communication)
      for (const std::string_view group : {"gradient", "shard", "replicate", "expert_gradient"})
        if (line.group == group) listed += line.time;
    return to_picoseconds(listed);
  }
  const std::vector<BlockCost> blocks = block_costs(s.question, strategy);
  const StageLayout layout = layout_of(s.question, strategy, blocks);
  const StageTable stages(s.question.graph(), layout, blocks);
  Picoseconds sum = steps.tied_reduction(stages, strategy);
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    const SharingTimes t = steps.sharing_times(stages[rank], strategy);
    sum += strategy.micro_batches * (t.gather + t.gather_backward + t.regather + t.scatter) + t.reduction + t.update;
  }
  if (!steps.shares_network(strategy)) return sum;
  Picoseconds hop(0);
  for (const StageLink& link : steps.links(stages, strategy)) hop = std::max(hop, link.hop);
  return sum + std::int64_t{2} * strategy.virtual_stages * strategy.micro_batches * hop;
}

void exposed_at_most_alone(const Subject& s, Finding& f) {
  const Strategy& strategy = s.strategy();
  // Layers that are replayed together are gathered one by one: for their forward, their replay and their backward. The
  // time of each gather is rounded.
  const std::int64_t gathered_apart =
      joins_layers(strategy.recompute) ? 3 * std::ssize(s.question.graph().sequence()) * strategy.micro_batches : 0;
  const Picoseconds alone = state_transfers_alone(s) + rounding(s) + Picoseconds(gathered_apart);
  f.expect_at_most(s.prediction().time[TimeCause::data_parallel], alone, "exposed and alone, by closed form");
  if (strategy.pipeline_stages * strategy.micro_batches * strategy.virtual_stages > most_simulated_passes) return;
  const Simulation simulation = simulated(s.question, strategy).simulation;
  f.expect_at_most(simulation.time[TimeCause::data_parallel], alone, "exposed and alone, simulated");
}

/// Without a pipeline, whose ranks would wait for each other's slower passes.
void overlap_saves_time(const Subject& s, Finding& f) {
  const Strategy& strategy = s.strategy();
  if (strategy.pipeline_stages > 1 || strategy.gradient_ranks() == 1 || chooses(strategy)) return;
  const auto step_with = [&](const char* overlap) {
    AskedPlan asked = s.asked;
    asked.choices.overlap = overlap;
    return step_of(evaluate(question_of(asked), strategy));
  };
  const Picoseconds none = step_with("none");
  const Picoseconds reductions = step_with("reductions");
  const Picoseconds both = step_with("both");
  f.expect_at_most(both, reductions + rounding(s), "both overlapped, and reductions alone");
  f.expect_at_most(reductions, none + rounding(s), "reductions overlapped, and nothing");
  f.expect_at_most(none, both + state_transfers_alone(s) + rounding(s), "nothing overlapped, and all with transfers");
}

/// Where stages fill nodes or nodes stages, a node's cards carry in one direction what all its ranks of one stage hand
/// on, for every micro-batch.
void cards_carry_all_messages(const Subject& s, Finding& f) {
  const Strategy& strategy = s.strategy();
  const Cluster& cluster = s.question.cluster();
  const Node& node = cluster.groups.front().node;
  const std::int64_t of_stage = rank_group(strategy, Axis::pipeline).stride;
  const std::int64_t of_node = node.devices;
  const bool crosses = strategy.pipeline_stages > 1 && of_stage * strategy.pipeline_stages > of_node;
  if (!crosses || cluster.groups.size() > 1 || node.network_bandwidth() <= BytesPerSecond(0)) return;
  if (of_stage % of_node != 0 && of_node % of_stage != 0) return;
  const std::int64_t there_and_back = std::int64_t{2} * strategy.virtual_stages;
  const Bytes handed_on = sent(s.plan, "pipeline", "send_receive") / there_and_back;  // by a rank's first chunk
  const Seconds alone = std::min(of_stage, of_node) * handed_on / node.network_bandwidth();
  f.expect_at_most(to_picoseconds(alone), s.step(), "messages over the network cards of a node, and the step");
  if (strategy.pipeline_stages * strategy.micro_batches * strategy.virtual_stages > most_simulated_passes) return;
  f.expect_at_most(to_picoseconds(alone), simulated(s.question, strategy).simulation.step(),
                   "messages over the network cards of a node, and the simulated step");
}

}  // namespace

Laws laws_of_communication() {
  return {
      {"groups-that-send", "What is sent is sent in groups of more than one rank.", 1, lines_have_groups},
      {"gradient-bytes", "Gradients and parameters are sent as ring volumes of what a rank holds, by ZeRO stage.", 1,
       gradients_by_formula},
      {"zero-1-bytes", "ZeRO-1 sends what an all-reduce of the gradients sends.", 1, sharding_once_sends_as_much},
      {"bytes-per-micro-batch", "Twice the micro-batches send twice as much along every axis but data parallelism.", 16,
       micro_batches_multiply_what_they_send},
      {"messages", "Stages exchange one message there and one back for every chunk and micro-batch.", 1,
       messages_follow_the_schedule},
      {"sequence-parallel-bytes", "Sequence parallelism never lengthens messages between stages.", 4,
       sequence_parallelism_sends_as_much},
      {"recompute-bytes", "Recompute never sends less.", 16, recompute_sends_no_less},
      {"exposed-transfers", "A step shows no more of what shares states than the transfers take alone.", 4,
       exposed_at_most_alone},
      {"state-overlap", "Overlap of what shares states saves time, and no more than the transfers.", 8,
       overlap_saves_time},
      {"messages-on-cards", "A step takes no less than its messages take a node's network cards.", 4,
       cards_carry_all_messages},
  };
}

}  // namespace plumbline
