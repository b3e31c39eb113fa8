#pragma once
/// \file law_questions.h: the same plan asked a little differently, as laws compare.

#include <optional>

#include "planner/pricing/evaluate.h"
#include "tests/campaign/law.h"

namespace plumbline {

/// The plan of another strategy, where that is legal.
[[nodiscard]] inline std::optional<Plan> plan_of(const Question& question, const Strategy& strategy) {
  if (first_violation(strategy, question.training(), question.facts(), question.limits())) return std::nullopt;
  return evaluate(question, strategy);
}
[[nodiscard]] inline std::optional<Plan> plan_of(const Subject& s, const Strategy& strategy) {
  return plan_of(s.question, strategy);
}

/// The same case with another recipe, and with a strategy that follows it.
template <class Change>
[[nodiscard]] std::optional<Plan> plan_with_training(const Subject& s, Change change) {
  AskedPlan asked = s.asked;
  change(asked.training, asked.strategy);
  const Question question = question_of(asked);
  return plan_of(question, asked.strategy);
}

/// The same case on changed nodes, or a changed cluster.
template <class Change>
[[nodiscard]] Plan plan_on_nodes(const Subject& s, Change change) {
  Cluster cluster = s.asked.machine.cluster;
  for (NodeGroup& group : cluster.groups) change(group.node);
  return evaluate(question_of(s.asked, cluster), s.strategy());
}

/// Bytes of model states that a rank holds.
[[nodiscard]] inline Bytes state_bytes(const MemoryBreakdown& m) {
  return m[MemoryClass::weights] + m[MemoryClass::gradients] + m[MemoryClass::master_weights] +
         m[MemoryClass::optimizer_state];
}

/// What a stage's rank holds, as a part of the smallest device where kinds are mixed; the peak is the largest.
[[nodiscard]] inline Bytes weighed(const Question& question, const Strategy& strategy, Bytes held, std::size_t stage) {
  return question.on_smallest(held, question.stage_sites(strategy).site(stage));
}
[[nodiscard]] inline Bytes weighed_peak(const Question& question, const Plan& plan) {
  return weighed(question, plan.strategy, plan.prediction.peak_memory,
                 static_cast<std::size_t>(plan.prediction.heaviest_stage));
}

/// `of` of every rank, at most what `than` has there.
template <class Amount>
void expect_ranks_at_most(const Plan& less, const Plan& more, Amount amount, Finding& f, std::string_view what) {
  const auto& a = less.prediction.stage_memory;
  const auto& b = more.prediction.stage_memory;
  for (std::size_t rank = 0; rank < a.size() && rank < b.size(); ++rank)
    f.expect_at_most(amount(a[rank]), amount(b[rank]), what);
}

/// Recompute that depends on memory or costs: what is chosen changes with the question.
[[nodiscard]] inline bool chooses(const Strategy& s) {
  return s.recompute.mode == RecomputeMode::placed || s.split == StageSplit::balanced;
}

/// Every overlap of a micro-batch on a rank is rounded to a picosecond.
[[nodiscard]] inline Picoseconds rounding(const Subject& s) {
  return Picoseconds(4 * s.strategy().micro_batches * s.strategy().chunks());
}

[[nodiscard]] inline Picoseconds step_of(const Plan& plan) { return plan.prediction.time.total(); }

/// Elements that padding may add to what a rank holds: fewer than the ranks of a group for each section of a unit.
[[nodiscard]] inline std::int64_t most_padding(const Subject& s, std::int64_t ranks) {
  constexpr std::int64_t sections = 6;  // dense, expert or a tied end; trained or frozen
  return sections * std::ssize(s.question.graph().sequence()) * (ranks - 1);
}

}  // namespace plumbline
