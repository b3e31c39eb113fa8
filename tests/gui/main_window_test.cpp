#include "gui/window/main_window.h"

#include <QTest>

#include "tests/catch.h"

namespace plumbline::gui {

TEST_CASE("the window opens") {
  MainWindow window;
  window.show();
  CHECK(QTest::qWaitForWindowExposed(&window));
}

}  // namespace plumbline::gui
