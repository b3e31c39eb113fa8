#include "cli/search_view.h"

#include <algorithm>

#include "cli/plan_view.h"
#include "cli/table.h"
#include "core/plan/legality.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

std::string zero_text(const Strategy& s) {
  if (s.zero_stage == 0 || s.shard_group == s.gradient_ranks()) return std::to_string(s.zero_stage);
  return std::to_string(s.zero_stage) + "/" + std::to_string(s.shard_group);
}

std::string seconds_text(const Interval& step) {
  const int digits = step.expected >= 10 ? 2 : 3;
  return fixed(step.expected, digits) + " (" + fixed(step.low, digits - 1) + "-" + fixed(step.high, digits - 1) + ")";
}

/// The step that ranks: of the simulation, where it differs from the closed form.
std::string played_text(const Prediction& p) {
  const double step = p.simulated_step ? p.simulated_step->value() : p.step_time_s.expected;
  return fixed(step, step >= 10 ? 2 : 3);
}

std::string on_text(SequenceParallel choice) { return choice == SequenceParallel::on ? "on" : "off"; }

/// A column, what it shows of a plan, and whether it is worth showing.
struct PlanColumn {
  Column column;
  std::string (*cell)(const Plan&);
  bool (*matters)(const Plan&) = nullptr;  ///< shown only where some plan says yes
};

const std::vector<PlanColumn>& plan_columns() {
  using P = const Plan&;
  constexpr Align left = Align::left;
  constexpr Align right = Align::right;
  constexpr Keep constant = Keep::unless_constant;
  static const std::vector<PlanColumn> columns{
      {{"GPUs", right, constant}, [](P p) { return std::to_string(p.machine.devices); }},
      {{"precision", left, constant}, [](P p) { return std::string(to_text(p.training.precision)); }},
      {{"tp"}, [](P p) { return std::to_string(p.strategy.tensor_parallel); }},
      {{"sp", left, constant},
       [](P p) { return on_text(p.strategy.sequence_parallel); },
       [](P p) { return p.strategy.sequence_parallel == SequenceParallel::on; }},
      {{"cp"},
       [](P p) { return std::to_string(p.strategy.context_parallel); },
       [](P p) { return p.strategy.context_parallel > 1; }},
      {{"ep"},
       [](P p) { return std::to_string(p.strategy.expert_parallel); },
       [](P p) { return p.strategy.expert_parallel > 1; }},
      {{"pp"}, [](P p) { return std::to_string(p.strategy.pipeline_stages); }},
      {{"dp"}, [](P p) { return std::to_string(p.strategy.data_parallel); }},
      {{"schedule", left, constant},
       [](P p) { return std::string(to_text(p.strategy.schedule)); },
       [](P p) { return p.strategy.schedule != Schedule::none; }},
      {{"vs"},
       [](P p) { return std::to_string(p.strategy.virtual_stages); },
       [](P p) { return p.strategy.virtual_stages > 1; }},
      {{"mbs x m", right},
       [](P p) { return std::to_string(p.strategy.micro_batch) + " x " + std::to_string(p.strategy.micro_batches); }},
      {{"zero", left, constant}, [](P p) { return zero_text(p.strategy); }},
      {{"recompute", left, constant}, [](P p) { return to_text(p.strategy.recompute); }},
      {{"split", left, constant},
       [](P p) { return std::string(to_text(p.strategy.split)); },
       [](P p) { return p.strategy.split != StageSplit::even; }},
      {{"step s (interval)", left}, [](P p) { return seconds_text(p.prediction.step_time_s); }},
      {{"played", right},
       [](P p) { return played_text(p.prediction); },
       [](P p) { return p.prediction.simulated_step.has_value(); }},
      {{"tok/s/GPU"}, [](P p) { return fixed(p.prediction.tokens_per_second_per_gpu, 0); }},
      {{"MFU%"}, [](P p) { return fixed(100 * p.prediction.mfu, 1); }},
      {{"GiB"}, [](P p) { return gib_text(p.prediction.peak_memory); }},
      {{"left", right}, [](P p) { return gib_text(p.verdict.margin) + (p.verdict.near_edge ? "!" : ""); }}};
  return columns;
}

/// Shown only when the plans differ, or the reader asked for a choice.
bool is_shown(const PlanColumn& column, const std::vector<Plan>& plans) {
  if (column.matters != nullptr) return std::any_of(plans.begin(), plans.end(), column.matters);
  if (column.column.header != "GPUs" && column.column.header != "precision") return true;
  return std::any_of(plans.begin(), plans.end(),
                     [&](const Plan& plan) { return column.cell(plan) != column.cell(plans.front()); });
}

RenderedTable ranking(const std::vector<Plan>& plans) {
  std::vector<PlanColumn> shown;
  std::vector<Column> columns{{"#"}};
  for (const PlanColumn& column : plan_columns()) {
    if (!is_shown(column, plans)) continue;
    shown.push_back(column);
    columns.push_back(column.column);
  }
  Table table(columns);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::vector<std::string> cells{std::to_string(i + 1)};
    for (const PlanColumn& column : shown) cells.push_back(column.cell(plans[i]));
    table.add_row(std::move(cells));
  }
  return table.render(terminal_columns);
}

std::string sentence_of(const std::string& id) {
  for (const Rule rule : all_rules)
    if (rule_id(rule) == id) return std::string(rule_sentence(rule));
  return "";
}

std::string audit_text(const SearchAudit& audit) {
  std::int64_t illegal = 0;
  for (const auto& [rule, count] : audit.illegal) illegal += count;
  std::string text = "considered " + grouped(audit.total) + " = " + grouped(illegal) + " illegal + " +
                     grouped(audit.memory) + " beyond memory + " + grouped(audit.bound) + " bounded away + " +
                     grouped(audit.dominated) + " dominated + " + grouped(audit.infeasible) + " infeasible + " +
                     grouped(audit.solved) + " priced";
  if (audit.unvisited > 0) text += " + " + grouped(audit.unvisited) + " not looked at";
  text = wrapped(text, terminal_columns, 2) + "\n";
  for (const auto& [rule, count] : audit.illegal)
    text += "  " + wrapped(rule + " " + grouped(count) + ": " + sentence_of(rule), terminal_columns, 4, 2) + "\n";
  return text;
}

std::string cost_text(const Plan& best) {
  const RunCost& run = best.run;
  std::string text =
      "The best plan takes " + fixed(run.days, 1) + " days, " + grouped(std::llround(run.gpu_hours)) + " GPU-hours";
  if (run.dollars.value() > 0) text += ", " + dollars_text(run.dollars.value());
  return text + ", " + grouped(std::llround(run.energy_kwh)) + " kWh for " +
         count_text(best.training.token_budget.value_or(0)) + " tokens.\n";
}

std::string remarks_text(const session::SearchAnswer& answer, const RenderedTable& table) {
  std::string text;
  if (!table.in_all_rows.empty()) {
    text += "In all of them:";
    for (const std::string& value : table.in_all_rows)
      text += " " + value + (&value == &table.in_all_rows.back() ? "" : ",");
    text += "\n";
  }
  const auto near = [](const Plan& plan) { return plan.verdict.near_edge; };
  if (std::any_of(answer.plans.begin(), answer.plans.end(), near))
    text += "! fits by less than the estimate of memory is certain\n";
  if (!answer.result.complete) text += "Interrupted: the best so far, not the best there is.\n";
  return text;
}

}  // namespace

std::string ranking_text(const session::SearchAnswer& answer, const Terminal& terminal) {
  const RenderedTable table = ranking(answer.plans);
  std::string text = terminal.painted(table.lines.front(), Colour::bold) + "\n";
  for (std::size_t i = 1; i < table.lines.size(); ++i) text += table.lines[i] + "\n";
  text += remarks_text(answer, table) + "\n" + audit_text(answer.result.audit);
  if (answer.request.question.training.token_budget) text += "\n" + cost_text(answer.plans.front());
  return text;
}

std::string nothing_fits_text(const session::SearchAnswer& answer) {
  std::string text =
      answer.result.complete ? "No plan of this space fits.\n" : "Interrupted before a plan was found.\n";
  if (answer.nearest_miss) {
    const Plan& plan = *answer.nearest_miss;
    text += "Nearest: " + strategy_text(plan.strategy, plan.training) +
            wrapped(plan.verdict.reason, terminal_columns, 2) + "\n";
  }
  return text + "\n" + audit_text(answer.result.audit);
}

}  // namespace plumbline
