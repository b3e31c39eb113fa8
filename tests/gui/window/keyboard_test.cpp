// The window by keys alone: Tab and Shift+Tab reach every control of every page, dock and dialog, in reading order.
#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QKeySequence>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QTest>
#include <algorithm>
#include <functional>
#include <map>

#include "gui/dock/machine_dialog.h"
#include "gui/dock/question_dock.h"
#include "gui/export/launch_dialog.h"
#include "gui/window/keys_dialog.h"
#include "gui/window/main_window.h"
#include "gui/window/menus.h"
#include "gui/window/style.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui::keyboard_test {
namespace {

void ask(MainWindow& window) {
  window.question().replace(small_form(), "question");
  window.search().flush();
  REQUIRE(wait_for([&] { return !window.is_busy() && window.plan() != nullptr; }));
}

QRect place_of(const QWidget& widget) { return {widget.mapTo(widget.window(), QPoint(0, 0)), widget.size()}; }

std::string words_of(const QWidget& widget) {
  const QRect at = place_of(widget);
  const auto* const button = qobject_cast<const QAbstractButton*>(&widget);
  const QString name = button != nullptr ? button->text() : widget.accessibleName();
  return std::string(widget.metaObject()->className()) + " \"" + name.toStdString() + "\" at " +
         std::to_string(at.left()) + "," + std::to_string(at.top());
}

/// What Tab has to reach.
std::vector<QWidget*> stops_of(const QWidget& window) {
  std::vector<QWidget*> stops;
  for (QWidget* const widget : window.findChildren<QWidget*>())
    if ((widget->focusPolicy() & Qt::TabFocus) != 0 && widget->isVisible() && widget->isEnabled() &&
        widget->window() == &window && widget->focusProxy() == nullptr)
      stops.push_back(widget);
  return stops;
}

/// Stops in the order in which a key reaches them, from the first one on; the walk ends where it began.
std::vector<QWidget*> walked(const std::vector<QWidget*>& stops, Qt::KeyboardModifiers keys) {
  std::vector<QWidget*> order;
  stops.front()->setFocus();
  for (std::size_t i = 0; i < stops.size(); ++i) {
    QWidget* const now = QApplication::focusWidget();
    if (now == nullptr) break;
    order.push_back(now);
    INFO(words_of(*now));
    CHECK(std::find(stops.begin(), stops.end(), now) != stops.end());
    QTest::keyClick(now, Qt::Key_Tab, keys);
    QCoreApplication::processEvents();  // what a change of focus paints or starts
  }
  CHECK(QApplication::focusWidget() == stops.front());
  return order;
}

/// Lines from the top, each from the left; a column ends before the next one to its right begins.
bool reads_on(const QRect& one, const QRect& next) {
  const bool is_back_above = next.bottom() <= one.top() && next.left() < one.right();
  const bool is_same_line = next.top() < one.bottom() && one.top() < next.bottom();
  return !is_back_above && !(is_same_line && next.right() <= one.left());
}

/// Every stop once, the way back the same, and `region_of` never falls.
void check_walk(const QWidget& window, const std::function<int(const QWidget&)>& region_of) {
  const std::vector<QWidget*> stops = stops_of(window);
  REQUIRE(stops.size() > 1);
  std::vector<QWidget*> order = walked(stops, Qt::NoModifier);
  std::vector<QWidget*> back = walked(stops, Qt::ShiftModifier);
  for (QWidget* const stop : stops) {
    INFO(words_of(*stop));
    CHECK(std::count(order.begin(), order.end(), stop) == 1);
  }
  std::reverse(back.begin() + 1, back.end());
  CHECK(back == order);
  const auto first = std::min_element(order.begin(), order.end(), [&](const QWidget* one, const QWidget* other) {
    return region_of(*one) < region_of(*other);
  });
  const auto is_first = [&](const QWidget* stop) { return region_of(*stop) == region_of(**first); };
  const auto before = std::find_if_not(order.rbegin(), order.rend(), is_first);  // the region may lie across the end
  if (is_first(order.front()) && is_first(order.back()) && before != order.rend())
    std::rotate(order.begin(), before.base(), order.end());
  else
    std::rotate(order.begin(), order.begin() + (first - order.begin()), order.end());
  for (std::size_t i = 1; i < order.size(); ++i) {
    INFO(words_of(*order[i]) << " after " << words_of(*order[i - 1]));
    CHECK(region_of(*order[i]) >= region_of(*order[i - 1]));
    if (region_of(*order[i]) == region_of(*order[i - 1])) CHECK(reads_on(place_of(*order[i - 1]), place_of(*order[i])));
  }
}

/// Focus as it is drawn: the widget's picture with it and without.
void check_focus_is_seen(const QWidget& window) {
  const std::vector<QWidget*> stops = stops_of(window);
  for (QWidget* const stop : stops) {
    QWidget* const other = stop == stops.front() ? stops.back() : stops.front();
    other->setFocus(Qt::TabFocusReason);
    QCoreApplication::processEvents();
    const QImage without = stop->grab().toImage();
    stop->setFocus(Qt::TabFocusReason);
    QCoreApplication::processEvents();
    INFO(words_of(*stop));
    CHECK(stop->grab().toImage() != without);
  }
}

QChar mnemonic_of(const QString& text) {
  const QKeySequence keys = QKeySequence::mnemonic(text);
  return keys.isEmpty() ? QChar() : keys.toString().back();
}

/// Of what is seen, each key with what it is for.
std::multimap<QChar, std::string> mnemonics_of(const QWidget& window) {
  std::multimap<QChar, std::string> seen;
  const auto note = [&](const QString& text) {
    if (!mnemonic_of(text).isNull()) seen.emplace(mnemonic_of(text), text.toStdString());
  };
  for (const auto* const button : window.findChildren<QAbstractButton*>())
    if (button->isVisible() && button->window() == &window) note(button->text());
  for (const auto* const label : window.findChildren<QLabel*>())
    if (label->buddy() != nullptr && label->isVisible() && label->window() == &window) note(label->text());
  return seen;
}

void check_mnemonics(const std::multimap<QChar, std::string>& seen) {
  for (const auto& [key, words] : seen) {
    INFO("Alt+" << QString(key).toStdString() << ": " << words);
    CHECK(seen.count(key) == 1);
  }
}

struct Keyboard {
  Keyboard() {
    apply_scheme(*qApp, Scheme::light);
    window.resize(1280, 800);
    window.show();
    REQUIRE(wait_for([&] { return QApplication::activeWindow() == &window; }));
    ask(window);
  }
  ~Keyboard() {
    qApp->setStyleSheet({});
    QApplication::setPalette(application_palette(Scheme::light));
  }
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  void on_each_page(const std::function<void(Page&)>& check) {
    for (Page* const page : window.pages()) {
      window.bring_to_front(page->id());
      REQUIRE(wait_for([&] { return page->is_complete() && !window.is_busy(); }));
      QTest::qWait(50);  // layouts
      INFO(page->id().toStdString());
      check(*page);
    }
  }

  MainWindow window;
};

}  // namespace

TEST_CASE(
    "Tab and Shift+Tab walk the question, the tabs and every page in reading order, and nothing holds the focus") {
  Keyboard keyboard;
  MainWindow& window = keyboard.window;
  keyboard.on_each_page([&](const Page& page) {
    check_walk(window, [&](const QWidget& stop) {
      if (window.dock().isAncestorOf(&stop)) return 0;
      return page.isAncestorOf(&stop) ? 2 : 1;
    });
  });
}

TEST_CASE("Tab and Shift+Tab walk every dialog in reading order") {
  Keyboard keyboard;
  const auto check = [](QWidget& dialog) {
    dialog.activateWindow();
    REQUIRE(wait_for([&] { return QApplication::activeWindow() == &dialog; }));
    check_walk(dialog, [](const QWidget&) { return 0; });
    check_focus_is_seen(dialog);
    check_mnemonics(mnemonics_of(dialog));
    dialog.close();
  };
  keyboard.window.dock().show_machine();
  check(*keyboard.window.dock().machine_dialog());
  LaunchDialog* const launch = show_launch_files(keyboard.window);
  REQUIRE(launch != nullptr);
  REQUIRE(wait_for([&] { return launch->is_complete(); }));
  check(*launch);
  KeysDialog keys(*keyboard.window.menuBar());
  keys.show();
  check(keys);
}

TEST_CASE("whatever has the focus shows it") {
  Keyboard keyboard;
  keyboard.on_each_page([&](const Page&) { check_focus_is_seen(keyboard.window); });
}

TEST_CASE("no letter with Alt means two things on a page") {
  Keyboard keyboard;
  keyboard.on_each_page([&](const Page&) {
    std::multimap<QChar, std::string> seen = mnemonics_of(keyboard.window);
    for (const QAction* const menu : keyboard.window.menuBar()->actions())
      seen.emplace(mnemonic_of(menu->text()), "menu " + menu->text().toStdString());
    CHECK(seen.size() > 4);
    check_mnemonics(seen);
  });
}

TEST_CASE("every entry of the menus is reached by keys") {
  const MainWindow window;
  for (const QAction* const title : window.menuBar()->actions()) {
    INFO(title->text().toStdString());
    REQUIRE(title->menu() != nullptr);
    CHECK_FALSE(mnemonic_of(title->text()).isNull());
    std::multimap<QChar, std::string> letters;
    for (const QAction* const entry : title->menu()->actions()) {
      if (entry->isSeparator()) continue;
      INFO(entry->text().toStdString());
      const QChar letter = mnemonic_of(entry->text());
      CHECK((!letter.isNull() || !entry->shortcut().isEmpty()));
      if (!letter.isNull()) letters.emplace(letter, entry->text().toStdString());
    }
    check_mnemonics(letters);
  }
}

}  // namespace plumbline::gui::keyboard_test
