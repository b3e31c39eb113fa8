#include "gui/pages/compare/compare_page.h"

#include "gui/files/open_file.h"
#include "gui/pages/compare/comparison.h"
#include "gui/pages/compare/timeline_strips.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui {
namespace {

const session::SearchAnswer& answer() {
  static const session::SearchAnswer found = session::search(search_request(small_form()));
  return found;
}

double total_of(const Bar& bar) {
  double total = 0;
  for (const BarPart& part : bar.parts) total += part.value;
  return total;
}

}  // namespace

TEST_CASE("bars sum to what is predicted") {
  const std::vector<Plan>& plans = answer().plans;
  const std::vector<Bar> time = time_bars(plans), memory = memory_bars(plans);
  constexpr double gib = 1024. * 1024 * 1024;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Prediction& p = plans[i].prediction;
    CHECK(total_of(time[i]) == Approx(p.step_time_s.expected));
    CHECK(total_of(memory[i]) == Approx(static_cast<double>(p.peak_memory.value()) / gib));
  }
}

TEST_CASE("a row of the table holds each plan's own value") {
  const std::vector<Plan> plans{answer().plans[0], answer().plans[1], answer().plans[2]};
  const present::Table table = side_by_side(plans);
  CHECK(table.columns.size() == 4);
  for (const auto& row : table.rows) {
    REQUIRE(row.size() == 4);
    for (const present::Cell& cell : row) CHECK_FALSE(cell.text.empty());
    if (row.front().text != "step s") continue;
    for (std::size_t i = 0; i < plans.size(); ++i)
      CHECK(*row[i + 1].number == Approx(plans[i].prediction.step_time_s.expected));
  }
}

TEST_CASE("one plan is held against its best neighbour, which differs from it") {
  ComparePage page;
  page.show_plan(priced(answer().plans.front(), answer().request.question));
  REQUIRE(wait_for([&] { return page.is_complete(); }));
  REQUIRE(page.plans().size() == 2);
  CHECK(page.plans()[0].strategy != page.plans()[1].strategy);
}

TEST_CASE("simulated steps lie on one axis, as long as they take") {
  ComparePage page;
  page.resize(1000, 700);
  page.set_others({answer().plans[0], answer().plans.back()});
  page.show_plan(priced(answer().plans.front(), answer().request.question));
  page.show();
  REQUIRE(wait_for([&] { return page.is_complete(); }));
  const TimelineStrips& strips = page.timelines();
  REQUIRE(strips.timelines().size() == 2);
  const auto length = [&](std::size_t i) {
    return static_cast<double>(strips.timelines()[i]->simulation().timeline.end.value());
  };
  CHECK(strips.strip_of(0).width() / strips.strip_of(1).width() == Approx(length(0) / length(1)));
  CHECK(strips.strip_of(0).left() == strips.strip_of(1).left());
}

TEST_CASE("plans that were chosen together are compared at once, and a new plan drops them") {
  ComparePage page;
  page.set_others({answer().plans[0], answer().plans[1], answer().plans[2]});
  const SharedPlan plan = priced(answer().plans.front(), answer().request.question);
  page.show_plan(plan);
  CHECK(page.plans().size() == 3);
  REQUIRE(wait_for([&] { return page.is_complete(); }));
  CHECK(page.timelines().timelines().size() == 3);
  page.set_others({});
  page.show_plan(plan);
  page.show_plan(nullptr);  // before a neighbour was found
  QTest::qWait(300);
  CHECK(page.plans().empty());
}

}  // namespace plumbline::gui
