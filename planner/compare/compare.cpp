#include "planner/compare/compare.h"

#include <algorithm>
#include <map>

#include "core/base/errors.h"
#include "planner/compare/causes.h"
#include "planner/compare/sent_bytes.h"
#include "planner/question/fingerprint.h"

namespace plumbline {
namespace {

constexpr std::string_view all_classes = "total";

std::vector<const RankRecord*> ranks_of_stage(const RunRecord& record, std::int32_t stage) {
  std::vector<const RankRecord*> ranks;
  for (const RankRecord& rank : record.ranks)
    if (rank.stage == stage) ranks.push_back(&rank);
  return ranks;
}

/// A rank of a stage, and what is predicted of it for the rows that its experts got.
struct RoutedRank {
  const RankRecord* record = nullptr;
  MemoryBreakdown memory;
  std::map<SentPurpose, Bytes> sent;
};

RoutedStep rows_of(const RankRecord& rank, RoutedRows RoutedRecord::*which) {
  RoutedStep rows;
  for (const RoutedRecord& r : rank.routed) rows[{r.execution, r.micro_batch}] = r.*which;
  return rows;
}

/// Of the tensors of a program at its peak, without what is compared apart from them.
MemoryBreakdown tensors_at_peak(const RankProgram& program, const MemoryBreakdown& apart) {
  MemoryBreakdown memory = memory_peak(program, 0).memory;
  for (std::size_t c = 0; c < memory_class_count; ++c)
    memory.by_class[c] = std::max(Bytes(0), memory.by_class[c] - apart.by_class[c]);
  return memory;
}

RoutedRank routed_rank(const BalancedPlan& plan, const RankProgram& balanced, const RankRecord& rank,
                       std::int64_t steps, const MemoryBreakdown& apart) {
  RoutedRank routed{&rank, tensors_at_peak(balanced, apart), sent_bytes(balanced)};
  if (rank.routed.empty() || steps == 0) return routed;
  routed.memory = tensors_at_peak(routed_program(plan, rank.stage, rows_of(rank, &RoutedRecord::at_peak)), apart);
  const RoutedStep all = rows_of(rank, &RoutedRecord::all);
  routed.sent[SentPurpose::expert] = exchanged_bytes(plan, all, steps);
  if (routed.sent.contains(SentPurpose::offload))
    routed.sent[SentPurpose::offload] = copied_bytes(plan, rank.stage, balanced, all, steps);
  return routed;
}

/// Of the rank of a stage that is farthest from what is predicted for its rows, of equals from what is for balance.
struct Farthest {
  Bytes measured{0};
  Bytes routed{0};
};
template <class Measured, class Routed>
Farthest farthest(const std::vector<RoutedRank>& ranks, Bytes predicted, Measured measured, Routed routed) {
  const auto distance = [&](const Farthest& f) {
    return std::pair(std::abs((f.measured - f.routed).value()), std::abs((f.measured - predicted).value()));
  };
  Farthest result{predicted, predicted};
  for (const RoutedRank& rank : ranks) {
    const Farthest one{measured(*rank.record), routed(rank)};
    if (&rank == &ranks.front() || distance(one) > distance(result)) result = one;
  }
  return result;
}

void add_memory(std::int32_t stage, const MemoryBreakdown& peak, const std::vector<RoutedRank>& ranks,
                std::vector<MemoryLine>& lines) {
  const auto add = [&](std::string_view name, auto of, const std::string& cause) {
    const Bytes predicted = of(peak);
    const Farthest found = farthest(
        ranks, predicted, [&](const RankRecord& rank) { return of(rank.memory.at_peak); },
        [&](const RoutedRank& rank) { return of(rank.memory); });
    MemoryLine line{stage, std::string(name), predicted, found.measured, "", found.routed};
    if (predicted.value() == 0 && line.measured.value() == 0 && line.routed.value() == 0) return;
    line.cause = !line.is_equal() ? cause : routing_cause(predicted, line.routed);
    lines.push_back(std::move(line));
  };
  for (std::size_t c = 0; c < memory_class_count; ++c)
    add(
        to_text(static_cast<MemoryClass>(c)), [c](const MemoryBreakdown& memory) { return memory.by_class[c]; },
        memory_cause(static_cast<MemoryClass>(c)));
  add(
      all_classes, [](const MemoryBreakdown& memory) { return memory.device_total(); }, "the classes above");
}

void add_sent(std::int32_t stage, const RankProgram& program, const std::vector<RoutedRank>& ranks,
              const Strategy& strategy, std::vector<SentLine>& lines) {
  const auto predicted = sent_bytes(program);
  for (const SentPurpose purpose : all_sent_purposes) {
    const auto of = [&](const std::map<SentPurpose, Bytes>& sums) {
      const auto found = sums.find(purpose);
      return found == sums.end() ? Bytes(0) : found->second;
    };
    const Bytes expected = of(predicted);
    const Farthest found = farthest(
        ranks, expected, [&](const RankRecord& rank) { return of(sent_bytes(rank.sent)); },
        [&](const RoutedRank& rank) { return of(rank.sent); });
    if (expected.value() == 0 && found.measured.value() == 0 && found.routed.value() == 0) continue;
    lines.push_back({stage, std::string(group_name(purpose)), collective_name(purpose, strategy), expected,
                     found.measured, "", found.routed});
    SentLine& line = lines.back();
    line.cause = !line.is_equal() ? sent_cause(line.routed, line.measured) : routing_cause(expected, line.routed);
  }
}

/// Sends occupy nobody in the simulation, and a receive waits; the runtime's times of both say how long it waited.
void add_actions(std::int32_t stage, const RankProgram& program, const std::vector<Span>& spans,
                 const std::vector<const RankRecord*>& ranks, std::vector<ActionLine>& lines) {
  std::map<ActionKind, ActionLine> sums;
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    ActionLine& line = sums[program.actions[i].kind()];
    ++line.actions;
    line.predicted = line.predicted + to_seconds(spans[i].length());
  }
  for (const RankRecord* rank : ranks)
    for (const ActionRecord& action : rank->actions)
      sums[action.kind].measured = sums[action.kind].measured + Seconds(static_cast<double>(action.median_ns) * 1e-9 /
                                                                        static_cast<double>(ranks.size()));
  for (auto& [kind, line] : sums) {
    line.stage = stage;
    line.kind = kind;
    if (line.predicted.value() > 0 || line.measured.value() > 0) lines.push_back(line);
  }
}

}  // namespace

bool Comparison::bytes_are_equal() const {
  const auto equal = [](const auto& line) { return line.is_equal(); };
  return std::all_of(memory.begin(), memory.end(), equal) &&
         std::all_of(communication.begin(), communication.end(), equal);
}

bool Comparison::is_routed_unequally() const {
  const auto unequal = [](const auto& line) { return line.routed != line.predicted; };
  return std::any_of(memory.begin(), memory.end(), unequal) ||
         std::any_of(communication.begin(), communication.end(), unequal);
}

void require_same_plan(const Plan& plan, const Graph& graph, const RunRecord& record, const std::string& record_name) {
  const std::string expected = fingerprint(plan);
  if (record.plan_fingerprint != expected)
    throw InputError({record_name + ":/plan_fingerprint",
                      "\"" + record.plan_fingerprint.substr(0, 40) + "\" is of another plan",
                      "a record of this plan (" + expected + ")", ""});
  const auto ranks = static_cast<std::size_t>(plan.strategy.devices());
  if (record.ranks.size() != ranks)
    throw InputError({record_name + ":/ranks", std::to_string(record.ranks.size()) + " ranks",
                      "the plan's " + std::to_string(ranks), ""});
  for (const RankRecord& rank : record.ranks)
    if (rank.stage >= plan.strategy.pipeline_stages)
      throw InputError({record_name + ":/ranks/" + std::to_string(rank.rank) + "/stage",
                        "stage " + std::to_string(rank.stage) + " does not exist",
                        "0 to " + std::to_string(plan.strategy.pipeline_stages - 1), ""});
  const std::int64_t executions = std::ssize(graph.sequence());
  for (const RankRecord& rank : record.ranks)
    for (const RoutedRecord& rows : rank.routed)
      if (rows.execution >= executions)
        throw InputError({record_name + ":/ranks/" + std::to_string(rank.rank) + "/routed",
                          "execution " + std::to_string(rows.execution) + " does not exist",
                          "0 to " + std::to_string(executions - 1), ""});
}

Comparison compare(const Plan& plan, const Graph& graph, const SimulatedPlan& simulated, const RunRecord& record,
                   const MemoryBreakdown& apart) {
  Comparison result;
  const Shard shard = shard_of(plan.strategy, plan.training);
  const BalancedPlan balanced{graph, shard, simulated.replays, simulated.sizes};
  result.predicted_step_s = plan.prediction.step_time_s;
  result.measured_step_s = static_cast<double>(median_step_ns(record)) * 1e-9;
  for (const StepRecord& step : record.steps) result.losses.push_back(step.loss);
  for (std::size_t s = 0; s < simulated.program.ranks.size(); ++s) {
    const auto stage = static_cast<std::int32_t>(s);
    const RankProgram& program = simulated.program.ranks[s];
    const std::vector<const RankRecord*> ranks = ranks_of_stage(record, stage);
    Bytes arena(0);
    for (const RankRecord* rank : ranks) arena = std::max(arena, rank->memory.arena);
    result.arenas.push_back(arena);
    std::vector<RoutedRank> routed;
    for (const RankRecord* rank : ranks)
      routed.push_back(routed_rank(balanced, program, *rank, std::ssize(record.steps), apart));
    add_memory(stage, tensors_at_peak(program, apart), routed, result.memory);
    add_sent(stage, program, routed, plan.strategy, result.communication);
    add_actions(stage, program, simulated.simulation.timeline.of_rank[s], ranks, result.actions);
  }
  if (!record.ranks.empty())
    for (const SentRecord& line : record.ranks.front().sent)
      if (!purpose_of(line)) result.unplanned.push_back(line);
  result.step_cause = step_cause(result, plan, record);
  return result;
}

}  // namespace plumbline
