#pragma once
/// \file page_table.h: a table of a page as all pages show it.

#include <QString>

class QAbstractItemModel;
class QTableView;
class QWidget;

namespace plumbline::gui {

/// Rows are chosen whole, columns are as wide as their words and sorted by a click. `name`: for screen readers.
[[nodiscard]] QTableView* made_table(QAbstractItemModel& model, const QString& name, QWidget* parent);

}  // namespace plumbline::gui
