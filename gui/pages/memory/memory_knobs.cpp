#include "gui/pages/memory/memory_knobs.h"

#include <algorithm>

namespace plumbline::gui {
namespace {

constexpr std::int64_t most_micro_batch = 64;

/// Powers of two up to `most`, and the value that there is.
template <class Number>
std::vector<Number> doubled(Number most, Number own) {
  std::vector<Number> values{own};
  for (Number value = 1; value <= most; value *= 2)
    if (value != own) values.push_back(value);
  std::sort(values.begin(), values.end());
  return values;
}

/// Of the plan's recompute or in place of it.
std::vector<Recompute> recompute_choices(const Recompute& own) {
  std::vector<Recompute> choices{{RecomputeMode::none}, {RecomputeMode::selective}, {RecomputeMode::full}};
  if (std::find(choices.begin(), choices.end(), own) == choices.end()) choices.push_back(own);
  return choices;
}

}  // namespace

MemoryKnobs knobs_of(const Strategy& strategy) {
  return {strategy.micro_batch, strategy.recompute, strategy.zero_stage, strategy.tensor_parallel};
}

KnobChoices knob_choices(const session::PricedQuestion& asked) {
  const Strategy& strategy = asked.strategy;
  const LegalityLimits& limits = asked.question.limits();
  const std::int64_t most_tensor = limits.tensor_parallel_across_domains ? limits.devices : limits.nvlink_domain;
  return {doubled(std::min(most_micro_batch, asked.question.training().global_batch), strategy.micro_batch),
          recompute_choices(strategy.recompute),
          {0, 1, 2, 3},
          doubled(static_cast<std::int32_t>(std::min(most_tensor, limits.devices)), strategy.tensor_parallel)};
}

Plan plan_at(const session::PricedQuestion& asked, const MemoryKnobs& knobs) {
  if (knobs == knobs_of(asked.strategy)) return asked.plan;
  PartialStrategy partial{asked.strategy};
  partial.schedule_given = asked.strategy.schedule != Schedule::none;
  partial.flash_attention_given = true;
  Strategy& strategy = partial.strategy;
  strategy.micro_batch = knobs.micro_batch;
  strategy.recompute = knobs.recompute;
  strategy.zero_stage = knobs.zero_stage;
  strategy.tensor_parallel = knobs.tensor_parallel;
  if (strategy.tensor_parallel == 1) strategy.sequence_parallel = SequenceParallel::off;
  const Strategy whole = completed(partial, asked.question);
  require_legal(whole, asked.question);
  return session::signed_plan(asked.question, whole);
}

}  // namespace plumbline::gui
