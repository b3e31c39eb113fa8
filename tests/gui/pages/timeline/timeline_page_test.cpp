// The timeline as a user has it: wheel, mouse and keys.
#include "gui/pages/timeline/timeline_page.h"

#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QWheelEvent>

#include "gui/pages/timeline/lane_view.h"
#include "gui/pages/timeline/memory_view.h"
#include "gui/pages/timeline/minimap.h"
#include "planner/present/peak_tables.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"
#include "tests/gui/pages/waiting.h"

namespace plumbline::gui {
namespace {

/// A page that shows a plan of four stages.
struct Shown {
  TimelinePage page;
  SharedPlan plan = priced(pipelined());
  LaneView* lanes = nullptr;
  MemoryView* memory = nullptr;

  Shown() {
    REQUIRE(show_and_wait(page, plan));
    lanes = page.findChild<LaneView*>();
    memory = page.findChild<MemoryView*>();
  }
  void turn_wheel(int notches, Qt::KeyboardModifiers modifiers, int x) const {
    const QPointF at(x, 60);
    QWheelEvent event(at, lanes->viewport()->mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(lanes->viewport(), &event);
  }
};

TEST_CASE("the wheel zooms at the pointer, and with Shift moves") {
  const Shown shown;
  const TimeScale before = time_scale(shown.lanes->window(), shown.lanes->width());
  const double pointed = before.time_at(400);
  shown.turn_wheel(6, Qt::NoModifier, 400);
  CHECK(shown.lanes->window().length() < 0.3 * shown.lanes->window().whole());
  const TimeScale after = time_scale(shown.lanes->window(), shown.lanes->width());
  CHECK(after.time_at(400) == Approx(pointed).epsilon(1e-6));
  const double begin = shown.lanes->window().begin();
  shown.turn_wheel(-1, Qt::ShiftModifier, 400);
  CHECK(shown.lanes->window().begin() > begin);
}

TEST_CASE("keys zoom, move, choose a stage and unfold it") {
  const Shown shown;
  shown.lanes->setFocus();
  QTest::keyClick(shown.lanes, Qt::Key_Plus);
  QTest::keyClick(shown.lanes, Qt::Key_Plus);
  const TimeWindow zoomed = shown.lanes->window();
  CHECK(zoomed.length() == Approx(zoomed.whole() / 2.25));
  QTest::keyClick(shown.lanes, Qt::Key_Right);
  CHECK(shown.lanes->window().begin() > zoomed.begin());
  QTest::keyClick(shown.lanes, Qt::Key_F);
  CHECK(shown.lanes->window().is_whole());
  const std::size_t chosen = shown.lanes->chosen_stage();
  REQUIRE(chosen == 3);  // the logits are there
  QTest::keyClick(shown.lanes, Qt::Key_Down);
  CHECK(shown.lanes->chosen_stage() == 3);
  QTest::keyClick(shown.lanes, Qt::Key_Up);
  CHECK(shown.lanes->chosen_stage() == 2);
  const std::size_t rows = shown.lanes->rows().rows().size();
  QTest::keyClick(shown.lanes, Qt::Key_Return);
  CHECK(shown.lanes->rows().rows().size() > rows);
  QTest::keyClick(shown.lanes, Qt::Key_Return);
  CHECK(shown.lanes->rows().rows().size() == rows);
}

TEST_CASE("dragging moves the part that is seen, in all pictures") {
  const Shown shown;
  QTest::keyClick(shown.lanes, Qt::Key_Plus);
  const TimeWindow before = shown.lanes->window();
  QWidget* viewport = shown.lanes->viewport();
  QTest::mousePress(viewport, Qt::LeftButton, {}, {500, 60});
  QTest::mouseMove(viewport, {450, 60});
  QTest::mouseMove(viewport, {400, 60});
  QTest::mouseRelease(viewport, Qt::LeftButton, {}, {400, 60});
  CHECK(shown.lanes->window().begin() > before.begin());
  auto* minimap = shown.page.findChild<Minimap*>();
  QTest::mouseClick(minimap, Qt::LeftButton, {}, {80, 10});
  CHECK(shown.lanes->window().begin() == 0);
}

TEST_CASE("a click on a stage shows its memory at that instant") {
  const Shown shown;
  const LaneRow& row = shown.lanes->rows().of_stage(2);
  QSignalSpy chosen(shown.lanes, &LaneView::stage_chosen);
  QTest::mouseClick(shown.lanes->viewport(), Qt::LeftButton, {}, {300, static_cast<int>(row.top) + 30});
  CHECK(chosen.count() == 1);
  CHECK(shown.lanes->chosen_stage() == 2);
  CHECK_FALSE(shown.lanes->words_at({300, row.top + 30}).isEmpty());
  CHECK(shown.lanes->words_at({300, row.top + 30}).startsWith("stage 2"));
}

TEST_CASE("a click on the peak lists what is alive then, as the command line does") {
  const Shown shown;
  QTest::mouseClick(shown.memory, Qt::LeftButton, {}, {120, 60});
  QTest::mouseClick(shown.memory, Qt::LeftButton, {}, shown.memory->peak_position().toPoint());
  const auto answer = session::simulate(shown.plan->answer);
  const Simulation& s = answer->simulated.simulation;
  const auto heaviest = static_cast<std::size_t>(s.heaviest_rank);
  const present::Table expected = present::peak_class_table(s.memory[heaviest].memory);
  const std::vector<NamedTable> tables = shown.page.tables();
  REQUIRE(tables.size() == 3);
  REQUIRE(tables[1].table.rows.size() == expected.rows.size());
  for (std::size_t row = 0; row < expected.rows.size(); ++row)
    CHECK(tables[1].table.rows[row][1].text == expected.rows[row][1].text);
  const std::vector<StageReport> reports = stage_reports(answer->simulated.program, s);
  const present::Table buffers = present::largest_buffer_table(reports[heaviest].alive);
  for (std::size_t row = 0; row < buffers.rows.size(); ++row)
    CHECK(tables[2].table.rows[row][3].text == buffers.rows[row][3].text);
}

TEST_CASE("keys step through the changes of memory, and P is the peak") {
  const Shown shown;
  const std::size_t peak = shown.memory->sample();
  shown.memory->setFocus();
  QTest::keyClick(shown.memory, Qt::Key_Right);
  CHECK(shown.memory->sample() == peak + 1);
  QTest::keyClick(shown.memory, Qt::Key_Left);
  QTest::keyClick(shown.memory, Qt::Key_Left);
  CHECK(shown.memory->sample() == peak - 1);
  QTest::keyClick(shown.memory, Qt::Key_P);
  CHECK(shown.memory->sample() == peak);
}

TEST_CASE("of plans that follow each other quickly the last one alone is shown") {
  Shown shown;
  AskedPlan other = pipelined();
  other.strategy.pipeline_stages = 2;
  shown.page.show_plan(shown.plan);
  shown.page.show_plan(priced(other));
  CHECK(shown.page.tables().empty());
  REQUIRE(wait_for(shown.page));
  CHECK(shown.page.tables().front().table.rows.size() == 2);
  shown.page.show_plan(nullptr);
  CHECK(shown.page.is_complete());
  CHECK(shown.page.tables().empty());
}

TEST_CASE("the models of the timeline keep the rules of Qt's models") {
  const Shown shown;
  for (const QTableView* view : shown.page.findChildren<QTableView*>()) {
    const QAbstractItemModelTester tester(view->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    CHECK_FALSE(view->accessibleName().isEmpty());
  }
  QTest::mouseClick(shown.memory, Qt::LeftButton, {}, {200, 60});
}

/// Each stage's one forward, longer than the whole simulated step.
RunRecord slow_record(std::int64_t end_ns) {
  RunRecord record;
  record.traced_step = 0;
  for (std::int32_t stage = 0; stage < 4; ++stage) {
    RankRecord rank;
    rank.rank = rank.stage = stage;
    rank.actions.push_back({0, ActionKind::forward, Stream::compute, 0, 0, end_ns, end_ns, Bytes(0), "forward 0"});
    record.ranks.push_back(std::move(rank));
  }
  return record;
}

TEST_CASE("a recorded run lies beside the simulated one, on one axis, and leaves with its plan") {
  Shown shown;
  const auto simulated = static_cast<std::int64_t>(shown.lanes->window().whole());
  const std::size_t rows = shown.lanes->rows().rows().size();
  shown.page.show_record(shown.plan, std::make_shared<const RunRecord>(slow_record(simulated / 500)));
  REQUIRE(wait_for(shown.page));
  CHECK(shown.lanes->rows().rows().size() == rows + 4);
  CHECK(shown.lanes->window().whole() == Approx(2. * static_cast<double>(simulated)).epsilon(0.01));
  const LaneRow& measured = shown.lanes->rows().rows()[1];
  CHECK(measured.kind == RowKind::measured);
  CHECK(measured.lane->segments.size() == 1);
  CHECK(shown.lanes->words_at(QPointF(500, measured.top + measured.height / 2 + 20)).contains("measured"));
  CHECK_FALSE(shown.lanes->grab().isNull());
  shown.page.show_plan(priced(pipelined()));
  REQUIRE(wait_for(shown.page));
  CHECK(shown.lanes->rows().rows().size() == rows);
}

}  // namespace
}  // namespace plumbline::gui
