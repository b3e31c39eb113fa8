#pragma once
/// \file keys_dialog.h: every key of the window in one place: those of the menus, and those inside of pages.
///
/// Checked against: tests/gui/window/keys_dialog_test.cpp (no key of a menu is missing).

#include <QDialog>

#include "gui/tables/table_model.h"

class QMenuBar;

namespace plumbline::gui {

/// A row for each key: where it works, the key, what it does.
[[nodiscard]] present::Table key_table(const QMenuBar& menus);

class KeysDialog : public QDialog {
  Q_OBJECT

 public:
  explicit KeysDialog(const QMenuBar& menus, QWidget* parent = nullptr);

  [[nodiscard]] const present::Table& keys() const { return keys_.table(); }

 private:
  TableModel keys_;
};

}  // namespace plumbline::gui
