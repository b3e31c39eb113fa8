#include "tests/campaign/random_plan.h"

#include <numeric>
#include <optional>

#include "core/base/errors.h"
#include "core/plan/pipeline_schedule.h"
#include "models/calibration_set.h"
#include "planner/question/default_stack.h"

namespace plumbline {
namespace {

/// V-Half's order is packed in O((p m)^2).
constexpr std::int64_t longest_packed_order = 600;

std::int32_t degree(Draw& draw, std::int64_t multiple, std::int64_t most) {
  std::vector<std::int64_t> divisors = divisors_of(multiple);
  std::erase_if(divisors, [&](std::int64_t d) { return d > most; });
  return static_cast<std::int32_t>(draw.one_in(3) ? 1 : draw.one_of(divisors));
}

std::int64_t common_divisor(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::int64_t result = 0;
  for (const std::int64_t value : a) result = std::gcd(result, value);
  for (const std::int64_t value : b) result = std::gcd(result, value);
  return result;
}

Recompute random_recompute(Draw& draw) {
  Recompute recompute;
  switch (draw.between(0, 11)) {
    case 0: return {RecomputeMode::every_nth, static_cast<std::int32_t>(draw.between(2, 9))};
    case 1: return {RecomputeMode::by_operator, 1};
    case 2: return {RecomputeMode::offloaded, static_cast<std::int32_t>(draw.small(1, 12))};
    case 3:
      recompute.mode = RecomputeMode::modules;
      for (const RecomputeModule module : all_recompute_modules)
        if (draw.one_in(3)) recompute.modules.add(module);
      if (recompute.modules.empty()) recompute.modules.add(RecomputeModule::mlp);
      return *recompute_from_text(to_text(recompute));
    case 4: return {draw.one_in(3) ? RecomputeMode::placed : RecomputeMode::selective, 1};
    case 5:
    case 6: return {RecomputeMode::selective, 1};
    case 7:
    case 8: return {RecomputeMode::full, 1};
    case 9: return *recompute_from_text("uniform:" + std::to_string(draw.small(1, 9)));
    case 10:
      return draw.one_in(3) ? Recompute{RecomputeMode::square_root}
                            : Recompute{RecomputeMode::block, static_cast<std::int32_t>(draw.small(1, 9))};
    default: return recompute;
  }
}

void draw_schedule(Strategy& s, const Divisibility& facts, const PlanSizes& sizes, Draw& draw) {
  s.micro_batches = draw.small(1, sizes.most_micro_batches);
  if (s.pipeline_stages == 1) return;
  s.schedule = all_schedules[static_cast<std::size_t>(draw.between(1, all_schedules.size() - 1))];
  const std::int64_t most_chunks = (facts.layers + facts.fillers) / s.pipeline_stages;
  if (s.schedule == Schedule::interleaved && most_chunks >= 2) {
    s.virtual_stages = static_cast<std::int32_t>(draw.small(2, std::min<std::int64_t>(most_chunks, 8)));
    s.micro_batches = s.pipeline_stages * draw.small(1, std::max<std::int64_t>(1, s.micro_batches / s.pipeline_stages));
  } else if (placement(s.schedule) == StagePlacement::v_shaped) {
    s.virtual_stages = 2;
    if (s.schedule == Schedule::dualpipev) s.micro_batches += std::int64_t{2} * s.pipeline_stages;
    if (s.schedule == Schedule::v_half)
      s.micro_batches = std::clamp<std::int64_t>(longest_packed_order / s.pipeline_stages, 1, s.micro_batches);
  }
}

void draw_sharing(Strategy& s, Draw& draw) {
  s.zero_stage = static_cast<std::int32_t>(draw.between(0, 3));
  if (s.gradient_ranks() == 1) s.zero_stage = 0;
  s.shard_group = 1;
  if (s.zero_stage == 0) return;
  s.shard_group = s.gradient_ranks();
  const std::vector<std::int64_t> groups = divisors_of(s.gradient_ranks());
  if (draw.one_in(3)) s.shard_group = static_cast<std::int32_t>(std::max<std::int64_t>(groups[1], draw.one_of(groups)));
  if (s.zero_stage == 3 && draw.one_in(3)) s.prefetch = ParameterPrefetch::off;
}

/// Layers of each chunk by hand, at least one each.
std::vector<std::int32_t> random_layers(std::int64_t layers, std::int32_t chunks, Draw& draw) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(chunks), 1);
  for (std::int64_t left = layers - chunks; left > 0; --left)
    ++result[static_cast<std::size_t>(draw.between(0, chunks - 1))];
  return result;
}

void draw_split(Strategy& s, const Divisibility& facts, Draw& draw) {
  if (s.pipeline_stages == 1) return;
  if (s.schedule == Schedule::one_f_one_b && draw.one_in(12)) {
    s.split = StageSplit::balanced;
  } else if (s.chunks() <= facts.layers && draw.one_in(8)) {
    s.layers_per_stage = random_layers(facts.layers, s.chunks(), draw);
  }
}

/// Up to all layers of the chunk that holds most.
void draw_units(Strategy& s, const Divisibility& facts, Draw& draw) {
  if (s.zero_stage < 3 || !draw.one_in(3)) return;
  std::int64_t most = (facts.layers + s.chunks() - 1) / s.chunks();
  for (const std::int32_t layers : s.layers_per_stage) most = std::max<std::int64_t>(most, layers);
  if (most >= 2) s.layers_per_unit = static_cast<std::int32_t>(draw.between(2, most));
}

/// From a copy: a seed's other draws stay what they were before there was a choice.
void draw_secondary_group(Strategy& s, Draw draw) {
  if (s.zero_stage < 3 || !draw.one_in(3)) return;
  s.secondary_shard_group = static_cast<std::int32_t>(draw.one_of(divisors_of(s.shard_group)));
  if (s.secondary_shard_group == s.shard_group) s.secondary_shard_group = 1;
}

/// From a copy: a seed's other draws stay what they were before there was a choice.
void draw_context_communication(Strategy& s, const Divisibility& facts, Draw draw) {
  const std::int64_t ranks = std::int64_t{s.tensor_parallel} * s.context_parallel;
  if (s.context_parallel > 1 && common_divisor(facts.heads, facts.kv_heads) % ranks == 0 && draw.one_in(2))
    s.context_communication = ContextCommunication::all_to_all;
}

Strategy any_strategy(const Divisibility& facts, std::int64_t devices, std::int64_t domain, const PlanSizes& sizes,
                      Draw& draw) {
  Strategy s;
  s.tensor_parallel = degree(draw, std::gcd(devices, std::gcd(domain, common_divisor(facts.heads, facts.widths))), 64);
  std::int64_t left = devices / s.tensor_parallel;
  s.pipeline_stages = degree(draw, left, facts.layers + facts.fillers);
  left /= s.pipeline_stages;
  if (draw.one_in(3)) s.context_parallel = degree(draw, left, 64);
  s.data_parallel = static_cast<std::int32_t>(left / s.context_parallel);
  if (!facts.experts.empty()) {
    s.expert_parallel = degree(draw, common_divisor(facts.experts, {}), 1024);
    if (draw.one_in(4)) s.expert_tensor_parallel = degree(draw, s.tensor_parallel, 64);
  }
  if (s.tensor_parallel > 1 && draw.one_in(2)) s.sequence_parallel = SequenceParallel::on;
  if (draw.one_in(5)) s.flash_attention = FlashAttention::off;
  s.micro_batch = draw.small(1, draw.one_in(6) ? 64 : 4);
  s.recompute = random_recompute(draw);
  draw_schedule(s, facts, sizes, draw);
  draw_sharing(s, draw);
  draw_split(s, facts, draw);
  draw_units(s, facts, draw);
  draw_context_communication(s, facts, draw);
  draw_secondary_group(s, draw);
  return s;
}

std::int64_t random_sequence(const Network& network, Draw& draw) {
  if (draw.one_in(4)) return std::clamp<std::int64_t>(network.default_sequence_length, 1, 8192);
  return draw.one_of<std::int64_t>({1,    7,    12,   60,   64,   100,  128,  210,  256,   420,   512,   840,
                                    1024, 1260, 1536, 2048, 2520, 4096, 5040, 8192, 10080, 32768, 131072});
}

Adaptation random_adaptation(std::int64_t layers, Draw& draw) {
  Adaptation adaptation;
  if (!draw.one_in(6)) return adaptation;
  if (draw.one_in(3)) {
    adaptation.lora_rank = draw.one_of<std::int64_t>({1, 3, 4, 8, 16, 64});
    return adaptation;
  }
  adaptation.freeze_embeddings = draw.one_in(2);
  if (layers > 0 && draw.one_in(2)) {
    const std::int64_t first = draw.between(0, layers - 1);
    adaptation.frozen_layers.push_back({first, draw.between(first, layers - 1)});
  }
  return adaptation;
}

/// fp8 counts as one, whose scales the sequence chooses: so a seed's other draws stay what they were before recipes of
/// fp8 were told apart.
PrecisionRecipe random_precision(std::int64_t sequence, Draw& draw) {
  if (draw.one_in(2)) return PrecisionRecipe::bf16;
  std::vector<PrecisionRecipe> others;
  std::vector<PrecisionRecipe> in_fp8;
  for (const PrecisionRecipe recipe : all_precision_recipes) {
    if (!is_fp8(recipe) || recipe == PrecisionRecipe::fp8) others.push_back(recipe);
    if (is_fp8(recipe)) in_fp8.push_back(recipe);
  }
  const PrecisionRecipe drawn = draw.one_of<PrecisionRecipe>(others);
  return is_fp8(drawn) ? in_fp8[static_cast<std::size_t>(sequence) % in_fp8.size()] : drawn;
}

/// Those behind the first eight come from a copy: a seed's other draws stay what they were before there were others.
Optimizer random_optimizer(Draw& draw) {
  constexpr std::int64_t first_ones = 8;
  const std::int64_t place = draw.between(0, first_ones - 1);
  Draw later = draw;
  const std::int64_t any = later.between(0, std::ssize(optimizer_table) - 1);
  return optimizer_table[static_cast<std::size_t>(any < first_ones ? place : any)].optimizer;
}

Training random_training(const Network& network, Draw& draw) {
  Training t;
  t.sequence_length = random_sequence(network, draw);
  t.precision = random_precision(t.sequence_length, draw);
  t.optimizer = draw.one_in(2) ? Optimizer::adamw : random_optimizer(draw);
  if (draw.one_in(6)) t.gradient_format = draw.one_of({NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32});
  if (draw.one_in(6) && facts(t.optimizer).keeps_states() && !facts(t.optimizer).quantizes_states)
    t.optimizer_format = draw.one_of({NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32});
  if (draw.one_in(5)) t.token_budget = draw.one_of<std::int64_t>({1, 1'000'000, 15'000'000'000'000});
  t.adaptation = random_adaptation(network.graph.layer_count(), draw);
  return t;
}

/// Without those that are in everything like another.
std::vector<std::string> different_stacks() {
  const CalibrationSet& set = CalibrationSet::shipped();
  std::vector<std::string> names = set.stack_names();
  std::erase_if(names, [&](const std::string& name) {
    const SoftwareStack& stack = *set.find(name);
    return stack.axis_choices.empty() && stack.coefficients.empty() && stack.features.empty() && !stack.residuals;
  });
  return names;
}

std::string random_stack(Draw& draw) {
  static const std::vector<std::string> names = different_stacks();
  return draw.one_in(3) ? draw.one_of(names) : "";
}

/// Of a copy, so that what is drawn afterwards is what it was before there were choices.
StackChoices random_choices(Draw draw) {
  StackChoices choices;
  for (const StackChoiceField& field : stack_choice_fields())
    if (draw.one_in(4)) choices.*field.word = draw.one_of(field.words());
  return choices;
}

/// Nothing where this question takes no such strategy.
std::optional<AskedPlan> attempt(Draw& draw, const PlanSizes& sizes) {
  AskedPlan asked;
  asked.network = random_network(draw);
  asked.machine = random_machine(draw, sizes.most_devices);
  asked.training = random_training(*asked.network.network, draw);
  asked.stack = random_stack(draw);
  asked.choices = random_choices(draw);
  asked.tensor_parallel_across_nodes = draw.one_in(10);
  const Graph& graph = asked.network.network->graph;
  const Divisibility facts = divisibility(graph);
  const std::int64_t devices = device_count(asked.machine.cluster);
  const std::int64_t domain = asked.tensor_parallel_across_nodes ? devices : domain_devices(asked.machine.cluster);
  for (int tries = 0; tries < 20; ++tries) {
    const Strategy s = any_strategy(facts, devices, domain, sizes, draw);
    asked.training.global_batch = s.data_parallel * s.micro_batch * s.micro_batches;
    const LegalityLimits limits{devices, domain_devices(asked.machine.cluster), asked.tensor_parallel_across_nodes};
    if (first_violation(s, asked.training, facts, limits)) continue;
    asked.strategy = s;
    // Laws compare variants of the question, and the default stack depends on the question.
    if (asked.stack.empty())
      asked.stack = default_stack(graph, facts, asked.training, asked.machine.cluster).taken().stack;
    return asked;
  }
  return std::nullopt;
}

}  // namespace

LegalPlan random_plan(Draw& draw, const PlanSizes& sizes) {
  while (true) {
    const std::optional<AskedPlan> asked = attempt(draw, sizes);
    if (!asked) continue;
    try {
      Question question = question_of(*asked);
      require_units(question);
      require_legal(asked->strategy, question);
      return {*asked, std::move(question)};
    } catch (const InputError&) {
      continue;  // a precision that the device has no units for, or a recipe that does not fit the network
    }
  }
}

Strategy careless_strategy(const Question& question, Draw& draw) {
  const auto any = [&] {
    return static_cast<std::int32_t>(draw.one_in(20) ? draw.between(-2, 100) : draw.small(1, 12));
  };
  Strategy s;
  s.pipeline_stages = any();
  s.tensor_parallel = any();
  s.context_parallel = any();
  s.expert_parallel = any();
  s.expert_tensor_parallel = any();
  s.data_parallel = any();
  s.virtual_stages = any();
  s.schedule = all_schedules[static_cast<std::size_t>(draw.between(0, all_schedules.size() - 1))];
  s.micro_batch = any();
  s.micro_batches = question.training().global_batch / std::max<std::int64_t>(1, s.data_parallel * s.micro_batch);
  s.zero_stage = any() % 5;
  s.shard_group = any();
  if (draw.one_in(4)) s.prefetch = ParameterPrefetch::off;
  if (draw.one_in(4)) s.layers_per_unit = any() - 1;
  if (draw.one_in(2)) s.sequence_parallel = SequenceParallel::on;
  s.recompute = random_recompute(draw);
  if (draw.one_in(4)) {
    const std::int32_t layers = any();
    s.layers_per_stage.assign(static_cast<std::size_t>(draw.between(1, 8)), layers);
  }
  if (draw.one_in(4)) s.secondary_shard_group = any();
  return s;
}

}  // namespace plumbline
