#include "gui/window/window_memory.h"

#include <QDir>
#include <QHeaderView>
#include <QSettings>
#include <QTemporaryDir>
#include <csignal>

#include "gui/pages/run/run_page.h"
#include "gui/tables/table_model.h"
#include "gui/tables/table_view.h"
#include "gui/window/ending_signals.h"
#include "gui/window/main_window.h"
#include "planner/present/numbers.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui::window_memory_test {
namespace {

present::Table three_columns() {
  present::Table table;
  for (const char* const id : {"one", "two", "three"}) table.columns.push_back({id, id, present::Unit::number, ""});
  table.rows = {{present::whole(1), present::whole(2), present::whole(3)}};
  return table;
}

}  // namespace

TEST_CASE("size, question and page are remembered from one start to the next, also a question that nobody saved") {
  const QTemporaryDir folder;
  QSettings settings(folder.filePath("settings.ini"), QSettings::IniFormat);
  CHECK_FALSE(recalled_scheme(settings));
  QuestionForm form = small_form();
  form[Field::batch] = "-4";  // also one that is wrong
  {
    MainWindow first;
    first.resize(760, 610);
    first.question().replace(form, "question");
    first.bring_to_front("memory");
    remember(first, settings);
  }
  MainWindow second;
  recall(second, settings);
  recall_question(second, settings);
  CHECK(second.size() == QSize(760, 610));
  CHECK(second.question().form() == form);
  CHECK(second.page_in_front()->id() == "memory");
  CHECK(recalled_scheme(settings) == Scheme::light);
  second.question().changes().undo();
  CHECK(second.question().form() == QuestionForm());
}

TEST_CASE("broken settings leave the window as it is") {
  const QTemporaryDir folder;
  QSettings settings(folder.filePath("settings.ini"), QSettings::IniFormat);
  settings.setValue("window/geometry", "nonsense");
  settings.setValue("window/question", "{\"format\":");
  MainWindow window;
  recall(window, settings);
  recall_question(window, settings);
  CHECK(window.question().form() == QuestionForm());
}

TEST_CASE("columns that somebody chose and moved are those of the next start, whatever its table has") {
  QByteArray saved;
  {
    TableModel model;
    TableView view(model, "table");
    model.set_table(three_columns());
    CHECK(view.saved_columns().isEmpty());
    view.restore_columns("three,one,two;two");
    saved = view.saved_columns();
  }
  CHECK(saved == "three,one,two;two");
  TableModel model;
  TableView view(model, "table");
  view.restore_columns(saved);
  CHECK(view.saved_columns().isEmpty());  // what was saved waits for a table, and stays saved
  present::Table more = three_columns();
  more.columns.push_back({"four", "four", present::Unit::number, ""});
  more.rows.front().push_back(present::whole(4));
  model.set_table(more);
  CHECK(view.horizontalHeader()->visualIndex(2) == 0);
  CHECK(view.isColumnHidden(1));
  CHECK_FALSE(view.isColumnHidden(3));
}

TEST_CASE("a signal to end ends the event loop, behind which temporary folders are removed") {
  static bool is_ended = false;
  QObject owner;
  QString folder;
  {
    PlanRun run;
    folder = QFileInfo(run.record_file()).path();
    REQUIRE(QDir(folder).exists());
    follow_ending_signals(owner, [] { is_ended = true; });
    REQUIRE(std::raise(SIGTERM) == 0);
    REQUIRE(wait_for([] { return is_ended; }));
  }
  CHECK_FALSE(QDir(folder).exists());
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
}

}  // namespace plumbline::gui::window_memory_test
