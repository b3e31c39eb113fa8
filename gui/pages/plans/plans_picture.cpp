#include "gui/pages/plans/plans_picture.h"

#include <algorithm>

#include "core/plan/legality.h"
#include "core/quantity/text.h"
#include "gui/text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_columns.h"
#include "planner/present/plan_words.h"

namespace plumbline::gui {
namespace {

double step_of(const Prediction& p) { return p.simulated_step ? p.simulated_step->value() : p.step_time_s.expected; }

double gib(Bytes amount) { return static_cast<double>(amount.value()) / present::bytes_per_gib; }

QString words_of(const RankedPlan& ranked) {
  const Plan& plan = ranked.plan;
  const QString memory = QObject::tr("%1 GiB of %2 on the heaviest rank")
                             .arg(gib(plan.prediction.peak_memory), 0, 'f', 1)
                             .arg(gib(plan.verdict.capacity), 0, 'f', 1);
  const QString like = ranked.like == 0 ? QString() : QString(".%1").arg(ranked.like);
  return QString("#%1%2  ").arg(ranked.place + 1).arg(like) +
         qt(present::strategy_words(plan.strategy, plan.training)) + "\n" +
         QObject::tr("%1 s (%2 to %3), MFU %4 %")
             .arg(step_of(plan.prediction), 0, 'f', 3)
             .arg(plan.prediction.step_time_s.low, 0, 'f', 2)
             .arg(plan.prediction.step_time_s.high, 0, 'f', 2)
             .arg(100 * plan.prediction.mfu, 0, 'f', 1) +
         "\n" + memory;
}

std::size_t tied_plans(const session::SearchAnswer& answer) {
  return answer.plans.size() < 2 || answer.ties.noise <= 0 ? 0 : answer.ties.tied;
}

/// Days and dollars of the run, behind the figures of a step.
void add_run(present::Table& table, const std::vector<RunFigures>& runs) {
  if (runs.empty()) return;
  const bool is_priced = std::any_of(runs.begin(), runs.end(), [](const RunFigures& run) { return run.dollars > 0; });
  table.columns.push_back({"days", "days", present::Unit::number, "days that the whole run takes"});
  if (is_priced) table.columns.push_back({"dollars", "$", present::Unit::number, "dollars that the whole run costs"});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    table.rows[i].push_back(present::decimal(runs[i].days, 1));
    if (is_priced) table.rows[i].push_back({present::dollars_text(runs[i].dollars), runs[i].dollars});
  }
}

std::string sentence_of(const std::string& rule_id) {
  for (const LegalityRule& rule : legality_rules())
    if (rule.id == rule_id) return std::string(rule.sentence);
  return "";
}

}  // namespace

ScatterPicture scatter_of(const session::SearchAnswer& answer, const std::vector<RankedPlan>& plans,
                          const session::RunLimits& limits) {
  ScatterPicture picture;
  const std::vector<RunFigures> runs = run_figures(plans, limits);
  const bool is_one_count = std::all_of(plans.begin(), plans.end(), [&](const RankedPlan& ranked) {
    return ranked.plan.machine.devices == plans.front().plan.machine.devices;
  });
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Plan& plan = plans[i].plan;
    const Prediction& p = plan.prediction;
    const double cost = runs.empty() ? p.dollars_per_step * step_of(p) / p.step_time_s.expected : runs[i].dollars;
    picture.points.push_back({gib(p.peak_memory), step_of(p), p.step_time_s.low, p.step_time_s.high,
                              plans[i].place < tied_plans(answer), words_of(plans[i]), cost, plan.machine.devices});
    picture.capacity_gib = gib(plan.verdict.capacity - plan.verdict.headroom);
  }
  picture.cost_of = runs.empty() ? QObject::tr("a step") : QObject::tr("the run");
  // All plans of one number of GPUs take as many steps, at one price: both limits are limits of the step.
  if (limits.any() && !runs.empty() && is_one_count) {
    const double days_per_step_s = runs.front().days / picture.points.front().step_s;
    const double dollars_per_step_s = runs.front().dollars / picture.points.front().step_s;
    if (limits.days) picture.limit_s = *limits.days / days_per_step_s;
    if (limits.budget && dollars_per_step_s > 0) {
      const double of_budget = limits.budget->value() / dollars_per_step_s;
      picture.limit_s = picture.limit_s > 0 ? std::min(picture.limit_s, of_budget) : of_budget;
    }
    picture.limit_words = qt(limit_words(limits));
  }
  for (const RankedStrategy& point : answer.result.pareto)
    picture.front.emplace_back(gib(point.peak_memory), to_seconds(point.ranking_step()).value());
  std::sort(picture.front.begin(), picture.front.end(),
            [](const QPointF& one, const QPointF& other) { return one.x() < other.x(); });
  return picture;
}

present::Table ranking_of(const std::vector<RankedPlan>& ranked) {
  std::vector<Plan> plans;
  std::vector<std::int64_t> equivalent;
  for (const RankedPlan& one : ranked) {
    plans.push_back(one.plan);
    equivalent.push_back(one.equivalent);
  }
  present::Table table = present::plan_table(plans, equivalent);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    constexpr double far = 1e-4;  // of plans that are like one: behind it, before the next
    const std::string place = std::to_string(ranked[i].place + 1);
    table.rows[i].front() = {ranked[i].like == 0 ? place : place + "." + std::to_string(ranked[i].like),
                             static_cast<double>(ranked[i].place) + 1 + far * static_cast<double>(ranked[i].like)};
  }
  // Days and dollars of the run come first where there is too little room.
  constexpr int last_to_leave = 9;
  for (present::Column& column : table.columns)
    if (column.id == "layers_per_stage") column.drop_order = last_to_leave;
  add_run(table, run_figures(ranked, {}));
  return table;
}

RowMarks marks_of(const session::SearchAnswer& answer, const std::vector<RankedPlan>& plans,
                  const session::RunLimits& limits) {
  RowMarks marks;
  const std::size_t tied = tied_plans(answer);
  const std::vector<RunFigures> runs = run_figures(plans, limits);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    marks.tied.push_back(plans[i].place < tied ? 1 : 0);
    marks.bold.push_back(tied >= 2 && plans[i].like == 0 && plans[i].place == answer.ties.simplest ? 1 : 0);
    marks.faint.push_back(!runs.empty() && !runs[i].keeps_limits ? 1 : 0);
  }
  return marks;
}

ScatterPicture scatter_so_far(const std::vector<RankedStrategy>& best) {
  ScatterPicture picture;
  for (const RankedStrategy& plan : best) {
    const double step = to_seconds(plan.ranking_step()).value();
    picture.points.push_back(
        {gib(plan.peak_memory), step, step, step, false,
         qt(to_text(plan.strategy)) + "\n" +
             QObject::tr("%1 s, %2 GiB, by closed form").arg(step, 0, 'f', 3).arg(gib(plan.peak_memory), 0, 'f', 1),
         0, plan.devices});
  }
  return picture;
}

present::Table ranking_so_far(const std::vector<RankedStrategy>& best) { return present::front_table(best); }

present::Table rejection_table(const SearchAudit& audit) {
  using present::Align;
  present::Table table;
  table.columns = {
      {"reason", "reason", present::Unit::text, "rule that was broken, or what set the plans aside", Align::left},
      {"plans", "plans", present::Unit::number, "how many"},
      {"sentence", "what it says", present::Unit::text, "in a sentence", Align::left}};
  const auto add = [&](const std::string& reason, std::int64_t count, const std::string& sentence) {
    if (count > 0)
      table.rows.push_back({present::words(reason), present::grouped_cell(count), present::words(sentence)});
  };
  for (const auto& [rule, count] : audit.illegal) add(rule, count, sentence_of(rule));
  add("memory", audit.memory, "more memory than a GPU has");
  add("bound", audit.bound, "even their lower bound is slower than the plans shown");
  add("dominated", audit.dominated, "another plan is at least as fast and as small");
  add("infeasible", audit.infeasible, "priced, and only then found not to be possible");
  add("not looked at", audit.unvisited, "the search was stopped first");
  return table;
}

}  // namespace plumbline::gui
