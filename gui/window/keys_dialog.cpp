#include "gui/window/keys_dialog.h"

#include <QAction>
#include <QKeySequence>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QVBoxLayout>

#include "gui/tables/table_view.h"

namespace plumbline::gui {
namespace {

struct InPage {
  const char* where;
  const char* keys;
  const char* what;
};
/// What the widgets' keyPressEvent() do.
constexpr InPage in_pages[] = {
    {"anywhere", "Tab, Shift+Tab", "the next or the last control"},
    {"any table", "S", "sort by the current column, once more the other way"},
    {"any table", "Menu, Shift+F10", "choose columns"},
    {"Plans, picture", "Left, Right", "go through the plans"},
    {"Plans, picture", "Return, Space", "choose the plan"},
    {"Memory, bars", "Left, Right", "choose the stage"},
    {"Memory, areas", "Left, Right, Home, End", "go through the parts"},
    {"Memory, sliders", "Left, Right", "ask for another value"},
    {"Timeline, stages", "+, -", "zoom"},
    {"Timeline, stages", "Left, Right, Page Up, Page Down", "move"},
    {"Timeline, stages", "Home, F", "the whole step"},
    {"Timeline, stages", "Up, Down", "choose the stage"},
    {"Timeline, stages", "Return", "unfold the streams of the stage"},
    {"Timeline, memory", "Left, Right", "the change of memory before or after"},
    {"Timeline, memory", "P", "the peak"},
    {"Graph, picture", "Up, Down", "go through the operators"},
    {"Numbers of the cluster", "F2", "edit a number"},
};

void add_menu(const QMenu& menu, present::Table& table) {
  for (const QAction* const action : menu.actions()) {
    if (action->menu() != nullptr) add_menu(*action->menu(), table);
    if (action->shortcut().isEmpty()) continue;
    QString what = action->text();
    table.rows.push_back(
        {present::Cell{"menu " + menu.title().remove('&').toStdString()},
         present::Cell{QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText).toStdString()},
         present::Cell{what.remove('&').remove("...").toStdString()}});
  }
}

}  // namespace

present::Table key_table(const QMenuBar& menus) {
  using present::Align;
  present::Table table;
  table.columns = {{"where", "where", present::Unit::text, "the menu, or what has the focus", Align::left},
                   {"keys", "keys", present::Unit::text, "each by itself", Align::left},
                   {"does", "does", present::Unit::text, "what happens then", Align::left}};
  for (const QAction* const action : menus.actions())
    if (action->menu() != nullptr) add_menu(*action->menu(), table);
  for (const InPage& key : in_pages)
    table.rows.push_back({present::Cell{key.where}, present::Cell{key.keys}, present::Cell{key.what}});
  return table;
}

KeysDialog::KeysDialog(const QMenuBar& menus, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Keys"));
  resize(640, 620);
  auto* const filter = new QLineEdit(this);
  filter->setPlaceholderText(tr("filter, such as zoom"));
  filter->setAccessibleName(tr("Filter of the keys"));
  filter->setClearButtonEnabled(true);
  connect(filter, &QLineEdit::textChanged, this, [this](const QString& text) { keys_.set_filter(text); });
  auto* const column = new QVBoxLayout(this);
  column->addWidget(filter);
  column->addWidget(new TableView(keys_, tr("Keys"), this), 1);
  keys_.set_table(key_table(menus));
}

}  // namespace plumbline::gui
