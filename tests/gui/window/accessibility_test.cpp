// The window without a mouse and without eyes: names, the order of Tab, what fits, light and dark.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QTabBar>
#include <QTest>

#include "gui/dock/field_edit.h"
#include "gui/dock/machine_dialog.h"
#include "gui/dock/question_dock.h"
#include "gui/export/launch_dialog.h"
#include "gui/pages/compare/timeline_strips.h"
#include "gui/pages/memory/stage_bars.h"
#include "gui/pages/memory/treemap.h"
#include "gui/pages/step/waterfall.h"
#include "gui/pages/timeline/lane_view.h"
#include "gui/pages/timeline/memory_view.h"
#include "gui/scatter/scatter_plot.h"
#include "gui/widgets/stacked_bars.h"
#include "gui/window/keys_dialog.h"
#include "gui/window/main_window.h"
#include "gui/window/menus.h"
#include "gui/window/style.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui {
namespace {

/// The window as it is drawn for users; it leaves the application as other tests expect it.
struct Styled {
  Styled() { apply_scheme(*qApp, Scheme::light); }
  ~Styled() {
    qApp->setStyleSheet({});
    QApplication::setPalette(application_palette(Scheme::light));
  }
  Styled(const Styled&) = delete;
  Styled& operator=(const Styled&) = delete;
};

bool is_part_of_list(const QWidget& widget) {
  const QWidget* above = widget.parentWidget();
  while (above != nullptr && qobject_cast<const QComboBox*>(above) == nullptr) above = above->parentWidget();
  return above != nullptr;
}

/// Parts that their parent's name stands for.
bool is_inside(const QWidget& widget) {
  return qobject_cast<const QAbstractItemView*>(widget.parentWidget()) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(widget.parentWidget()) != nullptr || is_part_of_list(widget) ||
         qobject_cast<const QScrollArea*>(&widget) != nullptr || qobject_cast<const QTabBar*>(&widget) != nullptr;
}

bool takes_keys(const QWidget& widget) {
  return (widget.focusPolicy() & Qt::TabFocus) != 0 && !widget.objectName().startsWith("qt_");
}

int check_names(const QWidget& of) {
  int seen = 0;
  for (const QWidget* const widget : of.findChildren<QWidget*>()) {
    if (!takes_keys(*widget) || is_inside(*widget)) continue;
    ++seen;
    const auto* const button = qobject_cast<const QAbstractButton*>(widget);
    if (button != nullptr && !button->text().isEmpty()) continue;
    INFO(widget->metaObject()->className() << " in " << widget->parentWidget()->metaObject()->className());
    CHECK_FALSE(widget->accessibleName().isEmpty());
  }
  return seen;
}

void ask(MainWindow& window) {
  window.question().replace(small_form(), "question");
  window.search().flush();
  REQUIRE(wait_for([&] { return !window.is_busy() && window.plan() != nullptr; }));
}

}  // namespace

TEST_CASE("whatever takes keys has a name for screen readers, on every page and in every dialog") {
  MainWindow window;
  window.show();
  ask(window);
  for (Page* const page : window.pages()) {
    window.bring_to_front(page->id());
    REQUIRE(wait_for([&] { return page->is_complete(); }));
    INFO(page->id().toStdString());
    CHECK(check_names(*page) > 0);
  }
  CHECK(check_names(window.dock()) >= std::ssize(all_fields()));
  window.dock().show_machine();
  CHECK(check_names(*window.dock().machine_dialog()) > 2);
  LaunchDialog* const launch = show_launch_files(window);
  REQUIRE(launch != nullptr);
  REQUIRE(wait_for([&] { return launch->is_complete(); }));
  CHECK(check_names(*launch) > 2);
  const KeysDialog keys(*window.menuBar());
  CHECK(check_names(keys) == 2);
}

TEST_CASE("every field of the question is in sight at 1280 by 800, whole") {
  const Styled styled;
  MainWindow window;
  window.resize(1280, 800);
  window.show();
  REQUIRE(QTest::qWaitForWindowExposed(&window));
  ask(window);
  QTest::qWait(50);
  const auto* const scroll = window.dock().findChild<QScrollArea*>();
  for (const FieldFacts& facts : all_fields()) {
    const FieldEdit& field = window.dock().field(facts.field);
    const QRect seen(field.mapTo(scroll->viewport(), QPoint(0, 0)), field.size());
    INFO(facts.id << " ends at " << seen.bottom() << " of " << scroll->viewport()->height());
    CHECK(scroll->viewport()->rect().contains(seen));
  }
}

TEST_CASE("no page needs scrolling sideways at 1280 by 800") {
  const Styled styled;
  MainWindow window;
  window.resize(1280, 800);
  window.show();
  REQUIRE(QTest::qWaitForWindowExposed(&window));
  QuestionForm form = small_form();
  form[Field::tokens] = "10B";
  window.question().replace(form, "question");
  window.search().flush();
  REQUIRE(wait_for([&] { return !window.is_busy() && window.plan() != nullptr; }));
  for (Page* const page : window.pages()) {
    window.bring_to_front(page->id());
    REQUIRE(wait_for([&] { return page->is_complete(); }));
    QTest::qWait(50);
    for (const QAbstractScrollArea* const area : page->findChildren<QAbstractScrollArea*>()) {
      if (!area->isVisibleTo(&window)) continue;
      INFO(page->id().toStdString() << ": " << area->accessibleName().toStdString());
      CHECK(area->horizontalScrollBar()->maximum() == 0);
    }
  }
}

TEST_CASE("with every page answered the window is no larger than a screen of 1024 by 700") {
  const Styled styled;
  MainWindow window;
  window.resize(1024, 700);
  window.show();
  REQUIRE(QTest::qWaitForWindowExposed(&window));
  ask(window);
  for (Page* const page : window.pages()) {
    window.bring_to_front(page->id());
    REQUIRE(wait_for([&] { return page->is_complete(); }));
    QTest::qWait(20);
    const QSize least = window.minimumSizeHint();
    INFO(page->id().toStdString() << ": " << least.width() << " by " << least.height());
    CHECK(least.width() <= 1024);
    CHECK(least.height() <= 700);
    CHECK(window.size() == QSize(1024, 700));
  }
}

TEST_CASE("each picture says in words what it shows") {
  MainWindow window;
  window.resize(1280, 800);
  window.show();
  ask(window);
  for (Page* const page : window.pages()) {
    window.bring_to_front(page->id());
    REQUIRE(wait_for([&] { return page->is_complete(); }));
  }
  int pictures = 0;
  const auto check = [&](const QList<QWidget*>& widgets) {
    for (const QWidget* const widget : widgets) {
      INFO(widget->accessibleName().toStdString());
      CHECK_FALSE(widget->accessibleName().isEmpty());
      CHECK(widget->accessibleDescription().contains(QRegularExpression("[0-9]")));
      ++pictures;
    }
  };
  const auto all = [&](const auto& found) { check({found.begin(), found.end()}); };
  all(window.findChildren<ScatterPlot*>());
  all(window.findChildren<StageBars*>());
  all(window.findChildren<Treemap*>());
  all(window.findChildren<LaneView*>());
  all(window.findChildren<MemoryView*>());
  all(window.findChildren<Waterfall*>());
  all(window.findChildren<StackedBars*>());
  all(window.findChildren<TimelineStrips*>());
  CHECK(pictures == 9);
}

TEST_CASE("light and dark change while the window is open, in every picture") {
  const Styled styled;
  MainWindow window;
  window.resize(1280, 800);
  window.show();
  ask(window);
  QAction* dark = nullptr;
  for (QAction* const action : window.findChildren<QAction*>())
    if (action->shortcut() == QKeySequence("Ctrl+D")) dark = action;
  REQUIRE(dark != nullptr);
  const auto mean_lightness = [](const QImage& image) {
    std::int64_t sum = 0, pixels = 0;
    constexpr int step = 7;
    for (int y = 0; y < image.height(); y += step)
      for (int x = 0; x < image.width(); x += step, ++pixels) sum += image.pixelColor(x, y).lightness();
    return static_cast<double>(sum) / static_cast<double>(pixels);
  };
  for (Page* const page : window.pages()) {
    window.bring_to_front(page->id());
    REQUIRE(wait_for([&] { return page->is_complete(); }));
    INFO(page->id().toStdString());
    const double before = mean_lightness(page->grab().toImage());
    dark->trigger();
    const double switched = mean_lightness(page->grab().toImage());
    dark->trigger();
    const double back = mean_lightness(page->grab().toImage());
    CHECK(switched < before - 60);
    CHECK(back == Approx(before).margin(2));
  }
}

}  // namespace plumbline::gui
