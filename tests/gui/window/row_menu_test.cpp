#include "gui/window/row_menu.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QMenu>

#include "core/base/errors.h"
#include "gui/export/launch_dialog.h"
#include "gui/pages/compare/compare_page.h"
#include "gui/pages/plans/plans_page.h"
#include "gui/question/command_text.h"
#include "gui/window/main_window.h"
#include "gui/window/menus.h"
#include "planner/session/plan_file.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/pages/command.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui::row_menu_test {
namespace {

struct Opened {
  MainWindow window;
  QMenu menu;

  explicit Opened(int row) {
    window.question().replace(small_form(), "question");
    window.search().flush();
    REQUIRE(wait_for([&] { return !window.is_busy() && window.plan() != nullptr; }));
    fill_row_menu(window, menu, row);
  }
  static QAction* action_of(QMenu& in, const QString& begin) {
    for (QAction* const action : in.actions())
      if (QString(action->text()).remove('&').startsWith(begin)) return action;
    return nullptr;
  }
  void trigger(const QString& begin) {
    QAction* const action = action_of(menu, begin);
    REQUIRE(action != nullptr);
    action->trigger();
  }
  QMenu& submenu(const QString& begin) { return *action_of(menu, begin)->menu(); }
  [[nodiscard]] const Plan& plan(int row) const { return window.plans().plans()[static_cast<std::size_t>(row)].plan; }
};

}  // namespace

TEST_CASE("a row is copied as the command that gives its answer, as Python, and as its plan file") {
  Opened opened(3);
  opened.trigger("Copy as command");
  QStringList words = QApplication::clipboard()->text().split(' ');
  REQUIRE(words.takeFirst() == "plan");
  const Json answer = command_answer(words << "--json");
  const Json* const strategy = answer.find("strategy");
  REQUIRE(strategy != nullptr);
  CHECK(strategy->find("micro_batch")->if_integer() != nullptr);
  CHECK(*strategy->find("micro_batch")->if_integer() == opened.plan(3).strategy.micro_batch);
  CHECK(*strategy->find("data_parallel")->if_integer() == opened.plan(3).strategy.data_parallel);
  opened.trigger("Copy as Python");
  CHECK(QApplication::clipboard()->text().contains("plumbline.estimate(model=\"gpt2\", machine=\"dgx-h100\""));
  opened.trigger("Copy JSON");
  const session::PlanRequest read =
      session::plan_request_of(QApplication::clipboard()->text().toStdString(), "clipboard");
  CHECK(read.plan.strategy == opened.plan(3).strategy);
}

TEST_CASE("a value of a row is asked for or left out, as a change that is undone") {
  Opened opened(0);
  const QuestionForm before = opened.window.question().form();
  const std::string own = strategy_axis("--tp").text(opened.plan(0).strategy);
  Opened::action_of(opened.submenu("Fix"), "TP")->trigger();
  CHECK(opened.window.question().form()[field_of("--tp")] == own);
  opened.window.question().changes().undo();
  CHECK(opened.window.question().form() == before);
  Opened::action_of(opened.submenu("Exclude"), "TP")->trigger();
  CHECK(opened.window.question().form()[field_of("--tp")] == others_than(strategy_axis("--tp"), opened.plan(0)));
  CHECK(refusals(opened.window.question().form()).empty());
}

TEST_CASE("a row is compared with the opened plan, run, and written as launch files") {
  Opened opened(2);
  opened.trigger("Compare");
  CHECK(opened.window.page_in_front()->id() == "compare");
  const auto* const compare = qobject_cast<ComparePage*>(opened.window.page("compare"));
  REQUIRE(compare->plans().size() == 2);
  CHECK(compare->plans()[0].strategy == opened.plan(0).strategy);
  CHECK(compare->plans()[1].strategy == opened.plan(2).strategy);
  opened.trigger("Launch files");
  CHECK(opened.window.findChild<LaunchDialog*>() != nullptr);
  opened.trigger("Run");
  CHECK(opened.window.page_in_front()->id() == "run");
  REQUIRE(wait_for([&] { return !opened.window.is_busy(); }));
  CHECK(opened.window.plan()->answer.strategy == opened.plan(2).strategy);
}

TEST_CASE("the question is pasted as a command line; what is none leaves a line and the question") {
  MainWindow window;
  CHECK(paste_question(window, QString::fromStdString(search_command(small_form()))));
  CHECK(window.question().form() == small_form());
  CHECK_FALSE(paste_question(window, "rm -r plans"));
  CHECK(window.message().contains("plan search"));
  CHECK(window.question().form() == small_form());
  window.search().abandon();
}

}  // namespace plumbline::gui::row_menu_test
