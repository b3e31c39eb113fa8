#pragma once
/// \file window_memory.h: what the window remembers from one start to the next, in the user's settings.
///
/// Its size and place, light or dark, columns of tables and their order, splitters, and the question with its page,
/// also one that nobody saved. Checked against: tests/gui/window/window_memory_test.cpp.

#include <optional>

#include "gui/palette.h"

class QSettings;

namespace plumbline::gui {

class MainWindow;

void remember(MainWindow& window, QSettings& settings);
/// What was remembered; what a broken entry says is left as it is.
void recall(MainWindow& window, QSettings& settings);
/// Its question and page, for a start that names no file.
void recall_question(MainWindow& window, QSettings& settings);
/// Nothing: the desktop's.
[[nodiscard]] std::optional<Scheme> recalled_scheme(const QSettings& settings);

}  // namespace plumbline::gui
