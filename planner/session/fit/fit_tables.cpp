#include "planner/session/fit/fit_tables.h"

#include "core/quantity/text.h"
#include "core/training/adaptation_text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_words.h"

namespace plumbline::present {
namespace {

using session::FitLimit;
using session::FitLimits;
using session::LimitKind;

struct LimitRow {
  const FitLimits* answer;
  const FitLimit* limit;
};
using LimitCells = const LimitRow&;

std::string title_of(const FitLimits& answer, LimitKind kind) {
  switch (kind) {
    case LimitKind::micro_batch: return "largest micro-batch";
    case LimitKind::sequence: return "longest sequence";
    case LimitKind::model: return "largest " + answer.request.family;
    case LimitKind::devices: return "fewest GPUs";
  }
  return "";
}

Cell value_cell(LimitKind kind, std::int64_t value, const Plan& plan) {
  return kind == LimitKind::model ? words(plan.model.name) : grouped_cell(value);
}

Cell sure_cell(LimitCells row) {
  const auto& sure = row.limit->sure;
  return sure ? value_cell(row.limit->kind, sure->value, sure->plan) : words("none");
}

Cell predicted_cell(LimitCells row) {
  const FitLimit& limit = *row.limit;
  return limit.plan ? value_cell(limit.kind, limit.value, *limit.plan) : words("none");
}

/// At the limit that is sure, else at the one that is predicted.
const Plan* plan_of(const FitLimit& limit) {
  if (limit.sure) return &limit.sure->plan;
  return limit.plan ? &*limit.plan : nullptr;
}

const std::vector<ColumnOf<LimitRow>>& columns() {
  static const std::vector<ColumnOf<LimitRow>> all{
      {{"limit", "the most that fits", Unit::text, "what is as large, or on as few GPUs, as memory allows", left},
       [](LimitCells r) { return words(title_of(*r.answer, r.limit->kind)); }},
      {{"sure", "surely", Unit::text,
        "the last value that fits in 95 of 100 cases, with the rest of the question as it is", Align::right},
       sure_cell},
      {{"value", "perhaps", Unit::text, "the last value that is predicted to fit", Align::right}, predicted_cell},
      {{"peak_memory", "peak GiB", Unit::gibibytes, "peak memory of the heaviest rank"},
       [](LimitCells r) {
         const Plan* plan = plan_of(*r.limit);
         return plan != nullptr ? gib_cell(plan->prediction.peak_memory) : words("");
       }},
      {{"margin", "GiB left", Unit::gibibytes,
        "memory left on the GPU of the heaviest rank; ! where that is within the uncertainty of the estimate"},
       [](LimitCells r) {
         const Plan* plan = plan_of(*r.limit);
         if (plan == nullptr) return words("");
         Cell cell = gib_cell(plan->verdict.margin);
         if (plan->verdict.near_edge) cell.text += "!";
         return cell;
       }},
      {{"chance_to_fit", "fit%", Unit::per_cent, "chance that the memory needed is at most the GPU's"},
       [](LimitCells r) {
         const Plan* plan = plan_of(*r.limit);
         if (plan == nullptr) return words("");
         constexpr double almost_sure = 0.99;
         const double chance = plan->verdict.chance_to_fit;
         return Cell{chance > almost_sure ? ">99" : fixed(100 * chance, 0), 100 * chance};
       }},
      {{"plan", "with", Unit::text, "the plan at the limit that is sure, or else at the one predicted", left},
       [](LimitCells r) {
         const Plan* plan = plan_of(*r.limit);
         return words(plan != nullptr ? plumbline::to_text(plan->strategy) : "");
       }}};
  return all;
}

std::string next_text(const FitLimit& limit) {
  if (limit.kind == LimitKind::model) return limit.beyond->model;
  if (limit.kind == LimitKind::micro_batch) return "micro-batch " + grouped(limit.beyond->value);
  if (limit.kind == LimitKind::sequence) return "sequence " + grouped(limit.beyond->value);
  return grouped(limit.beyond->value) + (limit.beyond->value == 1 ? " GPU" : " GPUs");
}

}  // namespace

std::string fit_limits_question_words(const FitLimits& answer) {
  const QuestionText& text = answer.request.question;
  for (const FitLimit& limit : answer.limits) {
    if (!limit.plan) continue;
    const Plan& plan = *limit.plan;
    std::string said = text.model + " on " + std::to_string(text.devices) + " x " + plan.machine.device + " (" +
                       plan.machine.name + ")";
    if (text.training.sequence_length > 0) said += ", sequence " + std::to_string(text.training.sequence_length);
    const Adaptation& adaptation = plan.training.adaptation;
    if (const std::string frozen = freeze_text(adaptation); !frozen.empty()) said += ", frozen " + frozen;
    if (adaptation.lora_rank > 0) said += ", LoRA rank " + std::to_string(adaptation.lora_rank);
    return said + ", " + std::string(plumbline::to_text(plan.training.precision)) + ", " +
           std::string(plumbline::to_text(plan.training.optimizer));
  }
  return "";
}

std::string fit_limits_assumption_words(const FitLimits& answer) {
  const auto& given = answer.request.strategy;
  const std::string more = "; --global-batch asks of one batch";
  if (given)
    return "assumed: the strategy of the flags, dp as the GPUs allow, 1 and none for what they leave open; two "
           "micro-batches of a step for each pipeline stage" +
           more;
  const bool is_any = answer.framework.framework == Framework::any;
  const std::string name = is_any ? "any framework" : std::string(record_of(answer.framework.framework).title);
  return "assumed: no strategy flag is given, so each is with the fastest plan that fits of those that " + name +
         " launches; a step of two micro-batches for each GPU" + more;
}

Table fit_limits_table(const FitLimits& answer) {
  std::vector<LimitRow> rows;
  for (const FitLimit& limit : answer.limits) rows.push_back({&answer, &limit});
  return table_of(columns(), rows);
}

Table remedy_table(const std::vector<session::Remedy>& remedies) {
  using R = const session::Remedy&;
  static const std::vector<ColumnOf<session::Remedy>> all{
      {{"remedy", "what would fit", Unit::text, "what is asked instead, the rest of the question as it is", left},
       [](R r) { return words(r.words); }},
      {{"flags", "as a flag", Unit::text, "the flag that asks it", left}, [](R r) { return words(r.flags); }},
      {{"step_time", "step s", Unit::seconds, "step time by closed form"},
       [](R r) { return decimal(r.plan.prediction.step_time_s.expected, 3); }},
      {{"peak_memory", "peak GiB", Unit::gibibytes, "peak memory of the heaviest rank"},
       [](R r) { return gib_cell(r.plan.prediction.peak_memory); }},
      {{"plan", "with", Unit::text, "the best plan then", left},
       [](R r) { return words(plumbline::to_text(r.plan.strategy)); }}};
  return table_of(all, remedies);
}

std::vector<std::string> beyond_words(const FitLimits& answer) {
  std::vector<std::string> all;
  for (const FitLimit& limit : answer.limits) {
    if (limit.beyond) all.push_back(next_text(limit) + ": " + limit.beyond->reason);
    if (!limit.note.empty()) all.push_back(title_of(answer, limit.kind) + ": " + limit.note);
  }
  return all;
}

}  // namespace plumbline::present
