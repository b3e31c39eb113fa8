#include "gui/window/row_menu.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <exception>
#include <string>
#include <vector>

#include "gui/export/launch_dialog.h"
#include "gui/export/plan_export.h"
#include "gui/files/open_file.h"
#include "gui/pages/compare/compare_page.h"
#include "gui/pages/plans/plans_page.h"
#include "gui/question/command_text.h"
#include "gui/tables/table_model.h"
#include "gui/text.h"
#include "gui/window/main_window.h"

namespace plumbline::gui {
namespace {

/// A row of the ranking; both are values, as the ranking may change while the menu is open.
struct ChosenRow {
  QuestionForm form;
  Plan plan;
  QuestionText question;
  int row = 0;
};

template <class Slot>
QAction* add_action(MainWindow& window, QMenu& menu, const QString& text, const Slot& slot) {
  QAction* const action = menu.addAction(text);
  QObject::connect(action, &QAction::triggered, &window, [&window, slot] {
    try {
      slot();
    } catch (const std::exception& error) {
      window.say(QString::fromUtf8(error.what()));
    }
  });
  return action;
}

SharedPlan priced_row(const ChosenRow& chosen) { return priced(chosen.plan, chosen.question, run_limits(chosen.form)); }

void add_copies(MainWindow& window, QMenu& menu, const ChosenRow& chosen) {
  const auto copy = [](const std::string& text) { QApplication::clipboard()->setText(qt(text)); };
  add_action(window, menu, QObject::tr("Copy as &command"), [=] { copy(estimate_command(chosen.form, chosen.plan)); });
  add_action(window, menu, QObject::tr("Copy as &Python"),
             [=] { copy("import plumbline\n\nplan = " + estimate_python(chosen.form, chosen.plan)); });
  add_action(window, menu, QObject::tr("Copy &JSON"), [=] { copy(plan_text(*priced_row(chosen))); });
}

/// Each choice of the plan that has a field, to be asked for or to be left out.
void add_constraints(MainWindow& window, QMenu& menu, const ChosenRow& chosen) {
  QMenu& fix = *menu.addMenu(QObject::tr("&Fix this value"));
  QMenu& exclude = *menu.addMenu(QObject::tr("E&xclude this value"));
  for (const FieldFacts& facts : all_fields()) {
    if (facts.axis == nullptr || !facts.axis->means_something(chosen.plan.strategy)) continue;
    const std::string value = facts.axis->text(chosen.plan.strategy);
    const QString words = qt(facts.caption) + " " + qt(value);
    const auto set = [&window, field = facts.field](const std::string& text) {
      window.question().end_typing();
      window.question().set(field, text);
      window.question().end_typing();
    };
    add_action(window, fix, words, [set, value] { set(value); });
    if (const auto others = others_than(*facts.axis, chosen.plan))
      add_action(window, exclude, words, [set, others = *others] { set(others); });
  }
}

void add_uses(MainWindow& window, QMenu& menu, const ChosenRow& chosen) {
  QAction* const compare = add_action(window, menu, QObject::tr("C&ompare with the opened plan"), [&window, chosen] {
    auto* const page = qobject_cast<ComparePage*>(window.page("compare"));
    page->set_others({window.plan()->answer.plan, chosen.plan});
    window.bring_to_front("compare");
    page->show_plan(window.plan());
  });
  compare->setEnabled(window.plan() != nullptr && window.plan()->answer.strategy != chosen.plan.strategy);
  add_action(window, menu, QObject::tr("&Launch files..."), [&window, chosen] {
    auto* const dialog = new LaunchDialog(priced_row(chosen), &window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
  });
  add_action(window, menu, QObject::tr("&Run on this computer"), [&window, row = chosen.row] {
    window.plans().choose(row);
    window.bring_to_front("run");
  });
}

}  // namespace

void fill_row_menu(MainWindow& window, QMenu& menu, int row) {
  const PlansPage& plans = window.plans();
  // While a search goes on the table has no ranks, and no plan of it can be chosen.
  const std::vector<present::Column>& columns = plans.ranking().table().columns;
  if (columns.empty() || columns.front().id != "rank") return;
  if (plans.found() == nullptr || row < 0 || static_cast<std::size_t>(row) >= plans.plans().size()) return;
  const ChosenRow chosen{plans.found()->form, plans.plans()[static_cast<std::size_t>(row)].plan,
                         plans.found()->answer.request.question, row};
  add_copies(window, menu, chosen);
  menu.addSeparator();
  add_constraints(window, menu, chosen);
  menu.addSeparator();
  add_uses(window, menu, chosen);
}

}  // namespace plumbline::gui
