#pragma once
/// \file words_label.h: sentences of a page, in as many lines as the width needs, to select and copy.

#include <QLabel>

namespace plumbline::gui {

/// `parent` owns it.
[[nodiscard]] QLabel* words_label(QWidget* parent);

}  // namespace plumbline::gui
