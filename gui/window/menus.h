#pragma once
/// \file menus.h: the menus of the window, with a key for everything.

class QString;

namespace plumbline::gui {

class LaunchDialog;
class MainWindow;

void make_menus(MainWindow& window);
/// Lets somebody choose a file and opens it.
void browse_for_file(MainWindow& window);
/// Writes the page's picture or tables; false with the reason said in the window where that fails.
bool export_picture(MainWindow& window, const QString& file);
bool export_tables(MainWindow& window, const QString& folder);
/// On another thread; what fails is said in the window.
void export_trace(MainWindow& window, const QString& file);
/// nullptr, with the reason said in the window, where there is no plan.
LaunchDialog* show_launch_files(MainWindow& window);
bool export_plan(MainWindow& window, const QString& file);
/// The record of the last run of this window; false with the reason said where there is none.
bool save_record(MainWindow& window, const QString& file);
/// A command line becomes the question; false with the reason said where it is none.
bool paste_question(MainWindow& window, const QString& command);

}  // namespace plumbline::gui
