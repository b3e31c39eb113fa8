#include "gui/pages/plans/plans_picture.h"

#include <algorithm>

#include "core/plan/legality.h"
#include "gui/text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_columns.h"
#include "planner/present/plan_words.h"

namespace plumbline::gui {
namespace {

double step_of(const Prediction& p) { return p.simulated_step ? p.simulated_step->value() : p.step_time_s.expected; }

double gib(Bytes amount) { return static_cast<double>(amount.value()) / present::bytes_per_gib; }

QString words_of(const Plan& plan, std::size_t place) {
  const QString memory = QObject::tr("%1 GiB of %2 on the heaviest rank")
                             .arg(gib(plan.prediction.peak_memory), 0, 'f', 1)
                             .arg(gib(plan.verdict.capacity), 0, 'f', 1);
  return QString("#%1  ").arg(place + 1) + qt(present::strategy_words(plan.strategy, plan.training)) + "\n" +
         QObject::tr("%1 s (%2 to %3), MFU %4 %")
             .arg(step_of(plan.prediction), 0, 'f', 3)
             .arg(plan.prediction.step_time_s.low, 0, 'f', 2)
             .arg(plan.prediction.step_time_s.high, 0, 'f', 2)
             .arg(100 * plan.prediction.mfu, 0, 'f', 1) +
         "\n" + memory;
}

std::vector<std::int64_t> alike_counts(const SearchResult& result) {
  std::vector<std::int64_t> counts;
  for (const std::vector<RankedStrategy>& others : result.alike)
    counts.push_back(static_cast<std::int64_t>(others.size()));
  return counts;
}

std::size_t tied_plans(const session::SearchAnswer& answer) {
  return answer.plans.size() < 2 || answer.ties.noise <= 0 ? 0 : answer.ties.tied;
}

std::string sentence_of(const std::string& rule_id) {
  for (const LegalityRule& rule : legality_rules())
    if (rule.id == rule_id) return std::string(rule.sentence);
  return "";
}

}  // namespace

ScatterPicture scatter_of(const session::SearchAnswer& answer) {
  ScatterPicture picture;
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    const Plan& plan = answer.plans[i];
    const Prediction& p = plan.prediction;
    picture.points.push_back({gib(p.peak_memory), step_of(p), p.step_time_s.low, p.step_time_s.high,
                              i < tied_plans(answer), words_of(plan, i)});
    picture.capacity_gib = gib(plan.verdict.capacity - plan.verdict.headroom);
  }
  for (const RankedStrategy& point : answer.result.pareto)
    picture.front.emplace_back(gib(point.peak_memory), to_seconds(point.ranking_step()).value());
  std::sort(picture.front.begin(), picture.front.end(),
            [](const QPointF& one, const QPointF& other) { return one.x() < other.x(); });
  return picture;
}

present::Table ranking_of(const session::SearchAnswer& answer) {
  return present::plan_table(answer.plans, alike_counts(answer.result));
}

RowMarks marks_of(const session::SearchAnswer& answer) {
  RowMarks marks;
  const std::size_t tied = tied_plans(answer);
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    marks.tied.push_back(i < tied ? 1 : 0);
    marks.bold.push_back(tied >= 2 && i == answer.ties.simplest ? 1 : 0);
  }
  return marks;
}

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
