// Scaling: the figures of `plan size`.
#include "gui/pages/scaling/scaling_page.h"

#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QTableView>

#include "planner/session/size/size.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"
#include "tests/gui/pages/waiting.h"

namespace plumbline::gui {
namespace {

void require_equal(const present::Table& one, const present::Table& other) {
  REQUIRE(one.rows.size() == other.rows.size());
  for (std::size_t row = 0; row < one.rows.size(); ++row)
    for (std::size_t column = 0; column < one.columns.size(); ++column)
      CHECK(one.rows[row][column].text == other.rows[row][column].text);
}

/// What `plan size` answers to the question of a plan.
struct SizeAnswerOf {
  const PricedPlan& plan;
  double days_of_all = days();

  [[nodiscard]] session::SizeAnswer answer(const session::RunLimits& limits) const {
    session::SizeRequest request = session::scaling_question(plan.answer, limits).request;
    request.devices.clear();
    request.scalings = {session::Scaling::strong};
    return session::size(session::prepare_size(request));
  }
  [[nodiscard]] double days() const {
    session::SizeRequest request = session::scaling_question(plan.answer).request;
    return session::size(session::prepare_size(request)).rows.front().bill.days.expected;
  }
};

TEST_CASE("figures over the number of GPUs are those of plan size") {
  ScalingPage page;
  const SharedPlan plan = priced(pipelined());
  REQUIRE(show_and_wait(page, plan));
  const session::SizeAnswer expected =
      session::size(session::prepare_size(session::scaling_question(plan->answer).request));
  const std::vector<NamedTable> tables = page.tables();
  REQUIRE(tables.size() == 2);
  require_equal(tables[0].table, present::size_table(expected, session::Scaling::strong));
  require_equal(tables[1].table, present::size_table(expected, session::Scaling::weak));
  for (const ScalingChart* chart : page.findChildren<ScalingChart*>()) {
    CHECK(chart->accessibleDescription().contains("strong, 8 GPUs"));
    CHECK_FALSE(chart->accessibleName().isEmpty());
  }
  const std::vector<ScalingLine> lines = shown_scaling(*plan).lines_of(ScalingFigure::efficiency);
  REQUIRE(lines.size() == 2);
  CHECK(lines.front().points.front().expected == Approx(100));
  for (QTableView* view : page.findChildren<QTableView*>()) {
    const QAbstractItemModelTester tester(view->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    view->sortByColumn(0, Qt::DescendingOrder);
  }
}

TEST_CASE("a deadline is answered by the fewest GPUs, as plan size does, and drawn") {
  const SharedPlan without = priced(pipelined());
  SizeAnswerOf by_limits{*without};
  const double days = by_limits.days_of_all / 3;
  session::RunLimits limits;
  limits.days = days;
  const ShownScaling shown = shown_scaling(PricedPlan{without->request, without->answer, limits});
  CHECK(shown.least == present::size_answer_words(by_limits.answer(limits)));
  CHECK(shown.least.find("GPUs") != std::string::npos);
  CHECK(shown.limits[static_cast<std::size_t>(ScalingFigure::days)] == days);
  CHECK(shown.note.find("**") != std::string::npos);
  CHECK(shown_scaling(*without).note.find("**") == std::string::npos);
  CHECK(shown_scaling(*without).least.empty());
}

TEST_CASE("a search over numbers of GPUs is stopped by a click, and shows nothing then") {
  ScalingPage page;
  page.resize(1000, 700);
  page.show();
  page.show_plan(priced(pipelined()));
  CHECK_FALSE(page.is_complete());
  QTest::mouseClick(page.findChild<QPushButton*>(), Qt::LeftButton);
  CHECK(page.is_complete());
  QTest::qWait(50);
  CHECK(page.tables().empty());
}

}  // namespace
}  // namespace plumbline::gui
