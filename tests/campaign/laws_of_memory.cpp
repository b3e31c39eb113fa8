#include "core/plan/pipeline_schedule.h"
#include "tests/campaign/law_questions.h"

namespace plumbline {
namespace {

const auto all_states = [](const MemoryBreakdown& m) { return state_bytes(m); };
const auto activations = [](const MemoryBreakdown& m) { return m[MemoryClass::activations]; };
const auto everything = [](const MemoryBreakdown& m) { return m.device_total(); };

void zero_shards_states(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  if (other.zero_stage == 0 || chooses(other)) return;
  const std::int32_t stage = other.zero_stage - 1;
  other.zero_stage = stage;
  if (stage == 0) other.shard_group = 1;
  other.prefetch = ParameterPrefetch::on;
  other.layers_per_unit = other.secondary_shard_group = 1;
  const auto less_sharded = plan_of(s, other);
  if (!less_sharded) return;
  expect_ranks_at_most(s.plan, *less_sharded, all_states, f, "states of a rank");
  // What is whole for a moment is the price: without it no stage needs more than the one below.
  const auto& ranks = s.prediction().stage_memory;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    f.expect_at_most(ranks[rank].live() - ranks[rank][MemoryClass::gathered_parameters] -
                         ranks[rank][MemoryClass::communication_buffers],
                     less_sharded->prediction.stage_memory[rank].live(), "memory of a rank but for gathered units");
}

/// Shards of a smaller group are held besides, and one communicator more.
void secondary_shards_are_held(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  if (other.secondary_shard_group == 1 || chooses(other)) return;
  other.secondary_shard_group = 1;
  const auto without = plan_of(s, other);
  if (!without) return;
  expect_ranks_at_most(s.plan, *without, all_states, f, "states of a rank");
  expect_ranks_at_most(*without, s.plan, everything, f, "memory of a rank without secondary shards");
}

/// Units of one layer are whole two at a time, larger ones more at once; both are padded, and what a rank holds of each
/// section by fewer elements where sections are larger.
void larger_units_hold_more(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  if (other.layers_per_unit == 1 || other.secondary_shard_group > 1 || chooses(other)) return;
  other.layers_per_unit = 1;
  const auto single = plan_of(s, other);
  if (!single) return;
  expect_ranks_at_most(s.plan, *single, all_states, f, "states of a rank");
  constexpr std::int64_t sections = 4;       // dense and experts, trained and frozen
  constexpr std::int64_t element_bytes = 4;  // at most
  constexpr std::int64_t whole_at_once = 4;  // units of parameters and of gradients
  const Bytes padding(whole_at_once * sections * element_bytes * other.gradient_ranks() * other.tensor_parallel);
  const auto& ranks = s.prediction().stage_memory;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const MemoryBreakdown& of_single = single->prediction.stage_memory[rank];
    f.expect_at_most(of_single.live() - state_bytes(of_single), ranks[rank].live() - state_bytes(ranks[rank]) + padding,
                     "memory of a rank but for states, of units of one layer");
  }
}

void smaller_groups_hold_more(const Subject& s, Finding& f) {
  Strategy whole = s.strategy();
  if (whole.zero_stage == 0 || whole.shard_group == whole.gradient_ranks() || chooses(whole)) return;
  whole.shard_group = whole.gradient_ranks();
  if (const auto plan = plan_of(s, whole)) expect_ranks_at_most(*plan, s.plan, all_states, f, "states of a rank");
}

void recompute_keeps_less(const Subject& s, Finding& f) {
  if (chooses(s.strategy())) return;
  std::optional<Plan> before;
  for (const Recompute recompute :
       {Recompute{RecomputeMode::full, 1}, Recompute{RecomputeMode::selective, 1}, Recompute{RecomputeMode::none, 1}}) {
    Strategy other = s.strategy();
    other.recompute = recompute;
    auto plan = plan_of(s, other);
    if (!plan) return;
    if (before) {
      expect_ranks_at_most(*before, *plan, activations, f, "activations with " + to_text(recompute));
      f.expect_at_most(plan->prediction.hardware_flops_per_step, before->prediction.hardware_flops_per_step,
                       "FLOPs with " + to_text(recompute));
    }
    before = std::move(plan);
  }
}

void recompute_holds_less(const Subject& s, Finding& f) {
  const RecomputeMode mode = s.strategy().recompute.mode;
  // A split backward holds what is restored until the weight gradients, alongside what recompute keeps.
  if (mode == RecomputeMode::none || chooses(s.strategy()) || splits_backward(s.strategy().schedule)) return;
  Strategy other = s.strategy();
  other.recompute = {};
  const auto plan = plan_of(s, other);
  if (!plan) return;
  expect_ranks_at_most(s.plan, *plan, activations, f, "activations");
  f.expect_at_most(weighed_peak(s.question, s.plan), weighed_peak(s.question, *plan),
                   "peak with and without recompute");
}

/// Products of unaligned sizes run at lower rates (core/cost/kernel_time.cpp), so that more work may take less time, of
/// an expert's few rows too; a softmax over matrices that are no multiple of four launches more kernels
/// (core/cost/launches.cpp).
bool is_aligned(const Subject& s) {
  const Strategy& strategy = s.strategy();
  const std::int64_t tokens = s.asked.training.sequence_length / strategy.context_parallel;
  for (const std::int64_t experts : s.question.facts().experts)
    if (tokens * strategy.micro_batch % (64 * experts) != 0) return false;
  return tokens % 64 == 0 && (strategy.flash_attention == FlashAttention::on || strategy.micro_batch % 4 == 0);
}

/// One micro-batch of twice the size.
void larger_micro_batches_hold_more(const Subject& s, Finding& f) {
  if (chooses(s.strategy())) return;
  const auto larger = plan_with_training(s, [](Training& t, Strategy& other) {
    other.micro_batch *= 2;
    t.global_batch *= 2;
  });
  if (!larger) return;
  expect_ranks_at_most(s.plan, *larger, everything, f, "memory of a rank");
  if (is_aligned(s)) f.expect_at_most(s.step(), step_of(*larger) + rounding(s), "step");
}

void more_micro_batches_hold_more(const Subject& s, Finding& f) {
  if (chooses(s.strategy()) || s.strategy().schedule == Schedule::v_half) return;
  const auto more = plan_with_training(s, [](Training& t, Strategy& other) {
    other.micro_batches *= 2;
    t.global_batch *= 2;
  });
  if (!more) return;
  expect_ranks_at_most(s.plan, *more, everything, f, "memory of a rank");
  f.expect_at_most(s.step(), step_of(*more), "step");
}

void longer_sequences_hold_more(const Subject& s, Finding& f) {
  if (chooses(s.strategy())) return;
  const auto longer = plan_with_training(s, [](Training& t, Strategy&) { t.sequence_length *= 2; });
  if (!longer) return;
  expect_ranks_at_most(s.plan, *longer, everything, f, "memory of a rank");
  if (is_aligned(s)) f.expect_at_most(s.step(), step_of(*longer) + rounding(s), "step");
}

void frozen_parts_hold_less(const Subject& s, Finding& f) {
  const Adaptation& adaptation = s.asked.training.adaptation;
  if (adaptation == Adaptation{} || adaptation.lora_rank > 0 || chooses(s.strategy())) return;
  const auto trained = plan_with_training(s, [](Training& t, Strategy&) { t.adaptation = {}; });
  if (!trained) return;
  expect_ranks_at_most(s.plan, *trained, everything, f, "memory of a rank");
  f.expect_at_most(s.prediction().model_flops_per_step, trained->prediction.model_flops_per_step, "model FLOPs");
  f.expect_at_most(s.step(), step_of(*trained) + rounding(s), "step");
}

void larger_adapters_hold_more(const Subject& s, Finding& f) {
  const Adaptation& adaptation = s.asked.training.adaptation;
  if (adaptation.lora_rank == 0 || chooses(s.strategy())) return;
  const auto larger = plan_with_training(s, [](Training& t, Strategy&) { t.adaptation.lora_rank *= 2; });
  if (!larger) return;
  expect_ranks_at_most(s.plan, *larger, all_states, f, "states with twice the rank");
  // Narrower products are not aligned, and slower for it.
  if (adaptation.lora_rank % 64 == 0) f.expect_at_most(s.step(), step_of(*larger), "step with twice the rank");
}

void simpler_optimizers_hold_less(const Subject& s, Finding& f) {
  if (chooses(s.strategy()) || !facts(s.asked.training.optimizer).keeps_states()) return;
  const auto stateless = plan_with_training(s, [](Training& t, Strategy&) {
    t.optimizer = Optimizer::sgd;
    t.optimizer_format.reset();
  });
  if (!stateless) return;
  expect_ranks_at_most(*stateless, s.plan, all_states, f, "states under SGD");
  f.expect_at_most(stateless->prediction.time[TimeCause::optimizer], s.prediction().time[TimeCause::optimizer],
                   "time of SGD");
}

void narrower_formats_hold_less(const Subject& s, Finding& f) {
  if (chooses(s.strategy())) return;
  const auto wide = plan_with_training(s, [](Training& t, Strategy&) {
    t.gradient_format = NumberFormat::fp32;
    if (facts(t.optimizer).keeps_states()) t.optimizer_format = NumberFormat::fp32;
  });
  if (!wide) return;
  expect_ranks_at_most(s.plan, *wide, all_states, f, "states with 32-bit gradients and moments");
}

void one_forward_one_backward_holds_less(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  if (other.schedule != Schedule::one_f_one_b || chooses(other)) return;
  other.schedule = Schedule::gpipe;
  if (const auto gpipe = plan_of(s, other)) expect_ranks_at_most(s.plan, *gpipe, everything, f, "memory against GPipe");
}

void sequence_parallelism_holds_less(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  // Tokens of images are no sequence that could be divided.
  if (other.sequence_parallel == SequenceParallel::off || chooses(other) || !s.question.facts().sequence_symbol) return;
  other.sequence_parallel = SequenceParallel::off;
  if (const auto without = plan_of(s, other)) expect_ranks_at_most(s.plan, *without, everything, f, "memory of a rank");
}

void fused_attention_holds_less(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  const bool keeps_scores = other.recompute.mode == RecomputeMode::none || other.recompute.mode == RecomputeMode::full;
  if (chooses(other)) return;
  // Of short sequences the scores are smaller than what fused attention keeps instead.
  if (other.flash_attention == FlashAttention::off || !keeps_scores || s.asked.training.sequence_length < 512) return;
  other.flash_attention = FlashAttention::off;
  if (const auto without = plan_of(s, other)) expect_ranks_at_most(s.plan, *without, everything, f, "memory of a rank");
}

}  // namespace

Laws later_laws_of_memory() {
  return {
      {"secondary-shards", "Secondary shards are held besides, and change no states.", 1, secondary_shards_are_held}};
}

Laws laws_of_memory() {
  return {
      {"zero-stages", "A higher ZeRO stage never holds more states, and no more of anything but gathered units.", 8,
       zero_shards_states},
      {"layer-units", "Units of several layers hold no less while they are whole, and no more states.", 1,
       larger_units_hold_more},
      {"shard-groups", "States divided over more ranks take no more memory.", 4, smaller_groups_hold_more},
      {"recompute-activations",
       "Full recompute keeps no more activations than selective, that no more than none; FLOPs the other way round.",
       16, recompute_keeps_less},
      {"recompute-peak", "No recompute mode needs more memory at its peak than none, where the backward is not split.",
       8, recompute_holds_less},
      {"micro-batch-size", "Larger micro-batches hold no less and take no less time.", 8,
       larger_micro_batches_hold_more},
      {"micro-batch-count", "More micro-batches hold no less and take no less time.", 8, more_micro_batches_hold_more},
      {"sequence-length", "Longer sequences hold no less and take no less time.", 8, longer_sequences_hold_more},
      {"frozen", "Frozen parts never cost more memory, FLOPs or time than trained ones.", 1, frozen_parts_hold_less},
      {"adapters", "Adapters of a higher rank hold no less and take no less time.", 1, larger_adapters_hold_more},
      {"optimizers", "No optimizer holds less than SGD, or takes less time.", 16, simpler_optimizers_hold_less},
      {"formats", "Gradients and moments in 32 bits take no less than in fewer.", 16, narrower_formats_hold_less},
      {"gpipe", "1F1B never holds more than GPipe.", 1, one_forward_one_backward_holds_less},
      {"sequence-parallel", "Sequence parallelism never holds more.", 2, sequence_parallelism_holds_less},
      {"flash-attention", "Fused attention never holds more.", 4, fused_attention_holds_less},
  };
}

}  // namespace plumbline
