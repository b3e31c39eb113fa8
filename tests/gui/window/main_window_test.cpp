#include "gui/window/main_window.h"

#include <QAction>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QFileInfo>
#include <QMimeData>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>

#include "gui/dock/machine_dialog.h"
#include "gui/dock/machine_model.h"
#include "gui/dock/question_dock.h"
#include "gui/export/plan_export.h"
#include "gui/pages/compare/compare_page.h"
#include "gui/pages/plans/plans_page.h"
#include "gui/pages/run/run_page.h"
#include "gui/tables/table_model.h"
#include "gui/tables/table_view.h"
#include "gui/window/menus.h"
#include "gui/window/screenshots.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui::main_window_test {
namespace {

bool is_idle(const MainWindow& window) { return !window.is_busy(); }

void drop(MainWindow& window, const QString& file) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(file)});
  QDragEnterEvent entering(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window, &entering);
  REQUIRE(entering.isAccepted());
  QDropEvent event(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window, &event);
  REQUIRE(wait_for([&] { return is_idle(window); }));
}

QString written(const QTemporaryDir& folder, const char* name, const QByteArray& text) {
  QFile file(folder.filePath(name));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(text);
  return file.fileName();
}

void ask(MainWindow& window, const QuestionForm& form) {
  window.question().replace(form, "question");
  window.search().flush();
  REQUIRE(wait_for([&] { return is_idle(window) && window.plan() != nullptr; }));
}

}  // namespace

TEST_CASE("the window opens, with every page on its tab and under its key") {
  MainWindow window;
  window.show();
  REQUIRE(QTest::qWaitForWindowExposed(&window));
  for (Page* const page : window.pages()) {
    window.bring_to_front(page->id());
    CHECK(window.page_in_front() == page);
    CHECK_FALSE(page->title().isEmpty());
  }
}

TEST_CASE("an example is answered after one click") {
  MainWindow window;
  window.show();
  QPushButton* example = nullptr;
  for (QPushButton* const button : window.findChildren<QPushButton*>())
    if (example == nullptr && button->objectName() == "choice") example = button;
  REQUIRE(example != nullptr);
  QTest::mouseClick(example, Qt::LeftButton);
  CHECK(window.page_in_front()->id() == "plans");
  REQUIRE(wait_for([&] { return is_idle(window) && window.plan() != nullptr; }));
  CHECK(window.plans().found()->answer.plans.front().model.name == "llama-3-70b");
  CHECK(window.plan()->answer.strategy == window.plans().found()->answer.plans.front().strategy);
}

TEST_CASE("the plan that pages show is priced as plan search found it") {
  MainWindow window;
  ask(window, small_form());
  const Prediction& found = window.plans().found()->answer.plans.front().prediction;
  const Prediction& priced = window.plan()->answer.plan.prediction;
  CHECK(priced.step_time_s.expected == found.step_time_s.expected);
  CHECK(priced.peak_memory == found.peak_memory);
  CHECK(priced.time.by_cause == found.time.by_cause);
}

TEST_CASE("a plan chosen while another is priced is the one that is shown") {
  MainWindow window;
  ask(window, small_form());
  for (int plan = 0; plan < 5; ++plan) window.plans().choose(plan);
  REQUIRE(wait_for([&] { return is_idle(window); }));
  CHECK(window.plan()->answer.strategy == window.plans().found()->answer.plans[4].strategy);
}

TEST_CASE("a plan file is shown as it is, and stays when its question is searched") {
  const QTemporaryDir folder;
  MainWindow first;
  ask(first, small_form());
  first.plans().choose(3);
  REQUIRE(wait_for([&] { return is_idle(first); }));
  const QString file = written(folder, "plan.json", QByteArray::fromStdString(plan_text(*first.plan())));
  MainWindow window;
  window.open(file);
  REQUIRE(wait_for([&] { return is_idle(window) && window.plans().found() != nullptr; }));
  CHECK(window.message().isEmpty());
  CHECK(window.plan()->answer.strategy == first.plan()->answer.strategy);
  CHECK(window.question().form()[Field::model] == "gpt2");
}

TEST_CASE("a dropped config becomes the model, whatever else is dropped leaves a line and the question") {
  const QTemporaryDir folder;
  MainWindow window;
  window.show();
  const QString config = written(folder, "config.json", R"({"model_type":"gpt2"})");
  drop(window, config);
  CHECK(window.question().form()[Field::model] == config.toStdString());
  for (const QByteArray& text :
       {QByteArray("{"), QByteArray("\0\1\2", 3), QByteArray("{\"format\":\"plumbline.plan/1\"}")}) {
    const QuestionForm before = window.question().form();
    const QString broken = written(folder, "broken.json", text);
    drop(window, broken);
    CHECK(window.message().contains("broken.json"));
    CHECK_FALSE(window.message().contains('\n'));
    CHECK(window.question().form() == before);
  }
  QFile huge(folder.filePath("huge.json"));
  REQUIRE(huge.open(QIODevice::WriteOnly));
  REQUIRE(huge.resize(qint64(1) << 36));
  drop(window, huge.fileName());
  CHECK(window.message().contains("huge.json"));
}

TEST_CASE("a session is saved and opened with its question and page") {
  const QTemporaryDir folder;
  MainWindow first;
  first.question().replace(small_form(), "question");
  first.bring_to_front("compare");
  first.save_session(folder.filePath("s.plumbline"));
  CHECK(first.message().isEmpty());
  MainWindow second;
  second.open(folder.filePath("s.plumbline"));
  REQUIRE(wait_for([&] { return is_idle(second); }));
  CHECK(second.question().form() == small_form());
  CHECK(second.page_in_front()->id() == "compare");
  first.save_session(folder.filePath("no/such/folder"));
  CHECK(first.message().contains("no/such/folder"));
}

TEST_CASE("what a page shows is exported, and where there is nothing a line says so") {
  const QTemporaryDir folder;
  MainWindow window;
  CHECK_FALSE(export_plan(window, folder.filePath("plan.json")));
  CHECK_FALSE(export_picture(window, folder.filePath("start.svg")));
  CHECK(window.message().contains("Start"));
  ask(window, small_form());
  window.bring_to_front("plans");
  CHECK(export_plan(window, folder.filePath("plan.json")));
  CHECK(export_picture(window, folder.filePath("plans.svg")));
  CHECK(export_tables(window, folder.path()));
  for (const char* const name : {"plan.json", "plans.svg", "plans.csv", "rejected.csv"})
    CHECK(QFile::exists(folder.filePath(name)));
  for (Page* const page : window.pages()) {
    if (page->id() == "start") continue;
    window.bring_to_front(page->id());
    REQUIRE(wait_for([&] { return page->is_complete(); }));
    for (const char* const ending : {".svg", ".png"}) {
      const QString file = folder.filePath(page->id() + ending);
      CHECK(export_picture(window, file));
      CHECK(QFileInfo(file).size() > 1000);
    }
    if (page->id() != "run") CHECK(export_tables(window, folder.path()));
  }
}

TEST_CASE("undo and redo are in the menu, under their keys") {
  MainWindow window;
  window.show();
  window.question().replace(small_form(), "question");
  QAction* undo = nullptr;
  for (QAction* const action : window.findChildren<QAction*>())
    if (action->shortcuts().contains(QKeySequence(QKeySequence::Undo))) undo = action;
  REQUIRE(undo != nullptr);
  undo->trigger();
  CHECK(window.question().form() == QuestionForm());
}

TEST_CASE("plans chosen by Ctrl and clicks are compared on the page that a key brings to the front") {
  MainWindow window;
  window.show();
  ask(window, small_form());
  window.bring_to_front("plans");
  TableView* ranking = nullptr;
  for (TableView* const view : window.plans().findChildren<TableView*>())
    if (view->model() == &window.plans().ranking()) ranking = view;
  REQUIRE(ranking != nullptr);
  const auto click = [&](int place, Qt::KeyboardModifiers keys) {
    QTest::mouseClick(ranking->viewport(), Qt::LeftButton, keys,
                      ranking->visualRect(ranking->model()->index(place, 0)).center());
  };
  click(0, {});
  click(2, Qt::ControlModifier);
  REQUIRE(wait_for([&] { return is_idle(window); }));
  for (QAction* const action : window.findChildren<QAction*>())
    if (action->shortcut() == QKeySequence("Ctrl+8")) action->trigger();
  REQUIRE(window.page_in_front()->id() == "compare");
  REQUIRE(wait_for([&] { return is_idle(window) && window.page_in_front()->is_complete(); }));
  const auto& compared = static_cast<ComparePage*>(window.page_in_front())->plans();
  REQUIRE(compared.size() == 2);
  const auto& found = window.plans().found()->answer.plans;
  CHECK(compared[0].strategy == found[0].strategy);
  CHECK(compared[1].strategy == found[2].strategy);
}

TEST_CASE("a question changed while its pages are computed never shows the plan of the one before") {
  MainWindow window;
  window.show();
  ask(window, small_form());
  const QStringList ids{"memory", "timeline", "step", "graph", "compare"};
  QuestionForm form = small_form();
  for (int change = 0; change < ids.size(); ++change) {
    window.bring_to_front(ids[change]);
    form[Field::batch] = std::to_string(64 * (change + 2));
    window.question().replace(form, "question");
    window.search().flush();
  }
  REQUIRE(wait_for([&] { return is_idle(window) && window.page_in_front()->is_complete(); }));
  CHECK(window.plan()->answer.plan.training.global_batch == 64 * (ids.size() + 1));
  CHECK(window.plans().found()->form == form);
  for (const Plan& plan : static_cast<ComparePage*>(window.page_in_front())->plans())
    CHECK(plan.training.global_batch == 64 * (ids.size() + 1));
}

TEST_CASE("a failing run leaves the window alive, with one line") {
  const QTemporaryDir folder;
  MainWindow window;
  window.show();
  ask(window, small_form());
  window.bring_to_front("run");
  auto& run = static_cast<RunPage&>(*window.page_in_front());
  run.run().process().set_program(folder.filePath("nowhere"));
  run.findChild<QComboBox*>()->setCurrentIndex(1);  // by a process
  run.start();
  REQUIRE(wait_for([&] { return !window.message().isEmpty(); }));
  CHECK_FALSE(window.message().contains('\n'));
  window.bring_to_front("memory");
  REQUIRE(wait_for([&] { return window.page_in_front()->is_complete(); }));
  CHECK_FALSE(window.page_in_front()->tables().empty());
}

TEST_CASE("no two entries of the menus share a key") {
  MainWindow window;
  std::map<QString, QString> seen;
  for (const QAction* const action : window.findChildren<QAction*>())
    for (const QKeySequence& keys : action->shortcuts()) {
      if (keys.isEmpty()) continue;
      INFO(keys.toString().toStdString() << ": " << action->text().toStdString());
      CHECK(seen.emplace(keys.toString(), action->text()).second);
    }
  CHECK(seen.size() > 20);
}

TEST_CASE("an edited number of the cluster is in the question, its search, its session and its undo") {
  const QTemporaryDir folder;
  MainWindow window;
  window.show();
  ask(window, small_form());
  const double before = window.plan()->answer.plan.prediction.step_time_s.expected;
  window.dock().show_machine();
  MachineModel& numbers = window.dock().machine_dialog()->numbers();
  for (int row = 0; row < numbers.rowCount(); ++row)
    if (numbers.index(row, MachineModel::name).data().toString() == "memory bandwidth")
      REQUIRE(numbers.setData(numbers.index(row, MachineModel::value), "1 TB/s", Qt::EditRole));
  window.search().flush();
  REQUIRE(wait_for([&] { return is_idle(window); }));
  CHECK(window.plan()->answer.plan.prediction.step_time_s.expected > before);
  CHECK(window.plan()->answer.plan.machine.name == "dgx-h100-edited");
  window.save_session(folder.filePath("s.plumbline"));
  window.question().changes().undo();
  CHECK(window.question().form() == small_form());
  MainWindow other;
  other.open(folder.filePath("s.plumbline"));
  REQUIRE(wait_for([&] { return is_idle(other) && other.plan() != nullptr; }));
  CHECK(other.question().form().machine_edits.size() == 1);
  CHECK(other.plan()->answer.plan.machine.name == "dgx-h100-edited");
}

TEST_CASE("a trace is exported on another thread, and what fails is a line") {
  const QTemporaryDir folder;
  MainWindow window;
  export_trace(window, folder.filePath("trace.json"));
  CHECK(window.message().contains("no plan"));
  CHECK(show_launch_files(window) == nullptr);
  ask(window, small_form());
  export_trace(window, folder.filePath("trace.json"));
  REQUIRE(wait_for([&] { return is_idle(window); }));
  CHECK(QFile::exists(folder.filePath("trace.json")));
  CHECK(window.message().isEmpty());
  export_trace(window, folder.filePath("no/such/trace.json"));
  REQUIRE(wait_for([&] { return is_idle(window); }));
  CHECK(window.message().contains("no/such"));
}

TEST_CASE("a picture of every page is written") {
  const QTemporaryDir folder;
  MainWindow window;
  CHECK(write_screenshots(window, folder.filePath("shots"), {}) == 0);
  CHECK(QFile::exists(folder.filePath("shots/question.png")));
  for (const char* const dialog : {"cluster", "launch"})
    CHECK(QFile::exists(folder.filePath(QString("shots/%1.png").arg(dialog))));
  for (Page* const page : window.pages()) CHECK(QFile::exists(folder.filePath("shots/" + page->id() + ".png")));
  MainWindow other;
  CHECK(write_screenshots(other, folder.filePath("shots"), folder.filePath("nowhere.json")) == 1);
}

}  // namespace plumbline::gui::main_window_test
