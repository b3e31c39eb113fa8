#pragma once
/// \file replace_question.h: whether files that are there already may be replaced.
///
/// Checked against: tests/gui/export/export_test.cpp.

#include <QStringList>

class QWidget;

namespace plumbline::gui {

/// Asks where there are any `names` in `folder`; no is the answer of Return and Esc. `over`: the window in front.
[[nodiscard]] bool may_replace(QWidget& over, const QString& folder, const QStringList& names);

}  // namespace plumbline::gui
