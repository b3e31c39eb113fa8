// The memory page as a user has it: sliders, bars, areas.
#include "gui/pages/memory/memory_page.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QTableView>

#include "core/base/errors.h"
#include "gui/pages/memory/stage_bars.h"
#include "gui/pages/memory/treemap.h"
#include "planner/present/plan_tables.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"
#include "tests/gui/pages/waiting.h"

namespace plumbline::gui {
namespace {

struct ShownMemory {
  MemoryPage page;
  SharedPlan plan = priced(pipelined());

  ShownMemory() { REQUIRE(show_and_wait(page, plan)); }
  [[nodiscard]] QSlider* slider(const char* name) const { return page.findChild<QSlider*>(name); }
  [[nodiscard]] bool says(const QString& words) const {
    for (const QLabel* label : page.findChildren<QLabel*>())
      if (label->text().contains(words)) return true;
    return false;
  }
};

QString refusal_of(const session::PricedQuestion& asked, const MemoryKnobs& knobs) {
  try {
    static_cast<void>(plan_at(asked, knobs));
  } catch (const InputError& error) {
    return QString::fromStdString(error.what()).toHtmlEscaped();
  }
  return QStringLiteral("it was not refused");
}

void require_equal(const present::Table& one, const present::Table& other) {
  REQUIRE(one.rows.size() == other.rows.size());
  for (std::size_t row = 0; row < one.rows.size(); ++row)
    for (std::size_t column = 0; column < one.columns.size(); ++column)
      CHECK(one.rows[row][column].text == other.rows[row][column].text);
}

TEST_CASE("the numbers of the memory page are the plan's") {
  const ShownMemory shown;
  const Prediction& prediction = shown.plan->answer.plan.prediction;
  require_equal(shown.page.tables().front().table, present::memory_table(prediction, {0, 1, 2, 3}));
  CHECK(shown.page.tables().size() == 2);
}

TEST_CASE("a slider moved by keys answers with the plan at its value") {
  const ShownMemory shown;
  QSlider* recompute = shown.slider("recompute");
  REQUIRE(recompute->value() == 0);
  recompute->setFocus();
  QTest::keyClick(recompute, Qt::Key_End);
  REQUIRE(wait_for(shown.page));
  AskedPlan full = pipelined();
  full.strategy.recompute = {RecomputeMode::full};
  const SharedPlan expected = priced(full);
  require_equal(shown.page.tables().front().table,
                present::memory_table(expected->answer.plan.prediction, {0, 1, 2, 3}));
  QTest::mouseClick(shown.page.findChild<QPushButton*>(), Qt::LeftButton);
  REQUIRE(wait_for(shown.page));
  require_equal(shown.page.tables().front().table,
                present::memory_table(shown.plan->answer.plan.prediction, {0, 1, 2, 3}));
}

TEST_CASE("sliders moved quickly show the last values alone") {
  const ShownMemory shown;
  QSlider* recompute = shown.slider("recompute");
  for (int i = 0; i < 10; ++i) {
    QTest::keyClick(recompute, Qt::Key_End);
    QTest::keyClick(recompute, Qt::Key_Home);
  }
  QTest::keyClick(shown.slider("zero_stage"), Qt::Key_Right);
  REQUIRE(wait_for(shown.page));
  AskedPlan zero = pipelined();
  zero.strategy.zero_stage = 1;
  require_equal(shown.page.tables().front().table,
                present::memory_table(priced(zero)->answer.plan.prediction, {0, 1, 2, 3}));
}

TEST_CASE("choices that cannot go together are said, and nothing else is shown") {
  const ShownMemory shown;
  QTest::keyClick(shown.slider("tensor_parallel"), Qt::Key_End);
  REQUIRE(wait_for(shown.page));
  CHECK(shown.page.tables().empty());
  MemoryKnobs knobs = knobs_of(shown.plan->answer.strategy);
  knobs.tensor_parallel = 8;
  CHECK(shown.says(refusal_of(shown.plan->answer, knobs)));
  QTest::keyClick(shown.slider("tensor_parallel"), Qt::Key_Home);
  REQUIRE(wait_for(shown.page));
  CHECK_FALSE(shown.page.tables().empty());
}

TEST_CASE("a click on a bar chooses the stage, keys the next one") {
  const ShownMemory shown;
  auto* bars = shown.page.findChild<StageBars*>();
  QTest::mouseClick(bars, Qt::LeftButton, {}, bars->bar(1).center().toPoint());
  CHECK(bars->stage() == 1);
  QTest::keyClick(bars, Qt::Key_Right);
  CHECK(bars->stage() == 2);
  CHECK(shown.page.findChild<QTableView*>()->model()->headerData(0, Qt::Horizontal).toString() == "stage 2");
}

TEST_CASE("areas are named under the pointer and by keys") {
  const ShownMemory shown;
  auto* treemap = shown.page.findChild<Treemap*>();
  CHECK(treemap->marked_words().isEmpty());
  QTest::mouseMove(treemap, {10, 10});
  CHECK(treemap->marked_words().contains("GiB"));
  QTest::keyClick(treemap, Qt::Key_End);
  const QString last = treemap->marked_words();
  QTest::keyClick(treemap, Qt::Key_Left);
  CHECK(treemap->marked_words() != last);
}

TEST_CASE("the table of the memory page keeps the rules of Qt's models") {
  const ShownMemory shown;
  auto* view = shown.page.findChild<QTableView*>();
  const QAbstractItemModelTester tester(view->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  QTest::keyClick(shown.page.findChild<StageBars*>(), Qt::Key_Left);
  for (const QSlider* slider : shown.page.findChildren<QSlider*>()) {
    CHECK_FALSE(slider->accessibleName().isEmpty());
    CHECK_FALSE(slider->accessibleDescription().isEmpty());
  }
}

}  // namespace
}  // namespace plumbline::gui
