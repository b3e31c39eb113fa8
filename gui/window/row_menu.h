#pragma once
/// \file row_menu.h: what is offered of a plan of the ranking: copies, changes of the question, comparison, files, a
/// run.
///
/// Checked against: tests/gui/window/row_menu_test.cpp.

class QMenu;

namespace plumbline::gui {

class MainWindow;

/// `row`: of the ranking, as `PlansPage::plans()` numbers it.
void fill_row_menu(MainWindow& window, QMenu& menu, int row);

}  // namespace plumbline::gui
