// Rows of a ranking, folded and unfolded, and what their runs take.
#include "gui/pages/plans/ranked_plans.h"

#include "gui/pages/plans/plans_picture.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/pages/command.h"

namespace plumbline::gui {
namespace {

QuestionForm with_tokens() {
  QuestionForm form = small_form();
  form[Field::tokens] = "10B";
  form[Field::price] = "3.5";
  return form;
}

const session::SearchAnswer& answer_of_run() {
  static const session::SearchAnswer found = session::search(search_request(with_tokens()));
  return found;
}

}  // namespace

TEST_CASE("unfolded, every plan stands behind the one that it is like, priced as the search ranked it") {
  const std::vector<RankedPlan> folded = folded_plans(answer_of_run());
  const std::vector<RankedPlan> all = unfolded_plans(answer_of_run());
  std::size_t expected = folded.size();
  for (const auto& equivalent : answer_of_run().result.equivalent) expected += equivalent.size();
  REQUIRE(expected > folded.size());
  REQUIRE(all.size() == expected);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const bool follows = all[i].place == all[i - 1].place ? all[i].like == all[i - 1].like + 1
                                                          : all[i].place == all[i - 1].place + 1 && all[i].like == 0;
    CHECK(follows);
    if (all[i].like == 0) continue;
    const RankedStrategy& like = answer_of_run().result.equivalent[all[i].place][all[i].like - 1];
    CHECK(all[i].plan.strategy == like.strategy);
    CHECK(all[i].plan.prediction.peak_memory == like.peak_memory);
  }
  const present::Table table = ranking_of(all);
  CHECK(table.rows.size() == all.size());
  CHECK(table.rows[1].front().text == (all[1].like == 0 ? "2" : "1.1"));
}

TEST_CASE("a stop ends the unfolding with what there is") {
  CHECK(unfolded_plans(answer_of_run(), StopRequest([] { return true; })).size() <=
        folded_plans(answer_of_run()).size());
}

TEST_CASE("days and dollars are those of plan size") {
  const Json said =
      command_answer(QStringList{"size", "--model", "gpt2", "--machine", "dgx-h100", "--gpus", "8", "--global-batch",
                                 "64", "--tokens", "10B", "--price", "3.5", "--fix", "zero=0", "--json"});
  const Json& row = *said.find("rows")->if_array()->front().find("run");
  const std::vector<RunFigures> runs = run_figures(folded_plans(answer_of_run()), {});
  REQUIRE_FALSE(runs.empty());
  CHECK(runs.front().days == Approx(number_at(*row.find("days"), "expected")).epsilon(1e-9));
  CHECK(runs.front().dollars == Approx(number_at(row, "dollars")).epsilon(1e-9));
  CHECK(run_figures(folded_plans(session::search(search_request(small_form()))), {}).empty());
}

TEST_CASE("a deadline and a budget tell the plans that keep them from the others") {
  const std::vector<RankedPlan> plans = folded_plans(answer_of_run());
  const std::vector<RunFigures> all = run_figures(plans, {});
  session::RunLimits limits;
  limits.days = (all.front().days + all.back().days) / 2;
  const std::vector<RunFigures> runs = run_figures(plans, limits);
  CHECK(runs.front().keeps_limits);
  CHECK_FALSE(runs.back().keeps_limits);
  const ScatterPicture picture = scatter_of(answer_of_run(), plans, limits);
  for (std::size_t i = 0; i < plans.size(); ++i)
    CHECK((picture.points[i].step_s <= picture.limit_s) == runs[i].keeps_limits);
  const RowMarks marks = marks_of(answer_of_run(), plans, limits);
  CHECK(marks.faint.front() == 0);
  CHECK(marks.faint.back() == 1);
  limits.budget = Dollars(1);
  for (const RunFigures& run : run_figures(plans, limits)) CHECK_FALSE(run.keeps_limits);
  CHECK(kept_words(run_figures(plans, limits), limits).starts_with("0 of "));
  CHECK(limit_words(limits).ends_with("$1"));
}

}  // namespace plumbline::gui
