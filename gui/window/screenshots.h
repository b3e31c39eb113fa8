#pragma once
/// \file screenshots.h: a picture of every page of the window, for docs/gui.md and to be looked at after a change.

#include <QString>

namespace plumbline::gui {

class MainWindow;

/// Writes NAME.png of each page into the folder, of the question with a wrong value, of the
/// dialogs of the cluster's numbers and of launch files. `plan_file`: what the pages
/// show; empty: the first worked example. 0, or 1 with a line on standard error.
[[nodiscard]] int write_screenshots(MainWindow& window, const QString& folder, const QString& plan_file);

}  // namespace plumbline::gui
