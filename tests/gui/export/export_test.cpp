#include "core/io/json_file.h"
#include "gui/export/picture_file.h"
#include "gui/export/plan_export.h"

#include <QAbstractButton>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QMessageBox>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTimer>

#include "core/base/errors.h"
#include "core/io/json.h"
#include "core/io/output_file.h"
#include "gui/export/launch_dialog.h"
#include "gui/files/open_file.h"
#include "gui/scatter/scatter_plot.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/pages/command.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui {

TEST_CASE("a picture is written as SVG with its words, and as PNG of twice its size") {
  const QTemporaryDir folder;
  ScatterPlot plot;
  plot.resize(400, 200);
  ScatterPicture picture;
  picture.points = {{40, 10, 9, 11, true, "a"}, {50, 9, 8, 10, false, "b"}};
  plot.set_picture(picture);
  write_picture(plot, folder.filePath("plot.svg"));
  write_picture(plot, folder.filePath("plot.png"));
  CHECK(QSvgRenderer(folder.filePath("plot.svg")).isValid());
  QFile svg(folder.filePath("plot.svg"));
  REQUIRE(svg.open(QIODevice::ReadOnly));
  CHECK(svg.readAll().contains("GiB"));
  CHECK(QImage(folder.filePath("plot.png")).size() == QSize(800, 400));
  CHECK_THROWS_AS(write_picture(plot, folder.filePath("no/such/folder.png")), EnvironmentError);
  CHECK_THROWS_AS(write_picture(plot, folder.filePath("no/such/folder.svg")), EnvironmentError);
}

TEST_CASE("an exported plan is the file that the command line writes and reads") {
  const QTemporaryDir folder;
  const session::SearchAnswer answer = session::search(search_request(small_form()));
  const SharedPlan plan = priced(answer.plans.front(), answer.request.question);
  QFile file(folder.filePath("plan.json"));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(plan_text(*plan)));
  file.close();
  const OpenedFile opened = open_file(file.fileName().toStdString());
  REQUIRE(std::holds_alternative<SharedPlan>(opened));
  const SharedPlan again = std::get<SharedPlan>(opened);
  CHECK(again->answer.strategy == plan->answer.strategy);
  CHECK(plan_text(*again) == plan_text(*plan));
}

TEST_CASE("an exported trace is the one that plan simulate writes") {
  const QTemporaryDir folder;
  const session::SearchAnswer answer = session::search(search_request(small_form()));
  const SharedPlan plan = priced(answer.plans.back(), answer.request.question);
  const QString file = folder.filePath("plan.json"), trace = folder.filePath("trace.json");
  write_output_file(file.toStdString(), plan_text(*plan));
  (void)command_answer({"simulate", "--plan", file, "--trace", trace, "--json"});
  CHECK(simulated_trace_text(*plan) == read_text_file(trace.toStdString(), "a trace"));
}

TEST_CASE("launch files are those that plan export writes, with what the framework cannot express") {
  const QTemporaryDir folder;
  const session::SearchAnswer answer = session::search(search_request(small_form()));
  const SharedPlan plan = priced(answer.plans.front(), answer.request.question);
  const QString file = folder.filePath("plan.json");
  write_output_file(file.toStdString(), plan_text(*plan));
  LaunchDialog dialog(plan);
  CHECK_FALSE(dialog.choose_target("no-framework"));
  for (const char* const target : {"megatron-lm", "deepspeed", "torchtitan"}) {
    REQUIRE(dialog.choose_target(target));
    REQUIRE(wait_for([&] { return dialog.is_complete(); }));
    const QString own = folder.filePath(QString("window-") + target),
                  said = folder.filePath(QString("command-") + target);
    QProcess process;
    process.start(command_file(), {"export", "--plan", file, "--to", target, "--out", said});
    process.waitForFinished(-1);
    INFO(dialog.words().toStdString());
    REQUIRE(process.exitCode() == 0);
    dialog.write(own);
    const QStringList names = QDir(said).entryList(QDir::Files);
    CHECK(QDir(own).entryList(QDir::Files) == names);
    for (const QString& name : names)
      CHECK(read_text_file((own + "/" + name).toStdString(), "a file") ==
            read_text_file((said + "/" + name).toStdString(), "a file"));
    for (const QByteArray& line : process.readAllStandardError().split('\n'))
      if (line.contains("; nearest: "))
        CHECK(dialog.words().contains(QString::fromUtf8(line.mid(int(strlen("plan: "))))));
  }
}

TEST_CASE("launch files that somebody edited are replaced only where that was answered") {
  const QTemporaryDir folder;
  const session::SearchAnswer answer = session::search(search_request(small_form()));
  LaunchDialog dialog(priced(answer.plans.front(), answer.request.question));
  REQUIRE(dialog.choose_target("megatron-lm"));
  REQUIRE(wait_for([&] { return dialog.is_complete(); }));
  dialog.write_asking(folder.path());
  CHECK(dialog.words().startsWith("Written"));
  dialog.write_asking(folder.path());  // the same files: nothing is asked
  CHECK(dialog.words().startsWith("Written"));
  const QString name = QDir(folder.path()).entryList(QDir::Files).front();
  const std::string own = read_text_file(folder.filePath(name).toStdString(), "a file");
  const auto answer_with = [&](QMessageBox::ButtonRole role) {
    write_output_file(folder.filePath(name).toStdString(), "edited");
    QTimer::singleShot(0, &dialog, [&dialog, &name, role] {
      auto* const question = dialog.findChild<QMessageBox*>();
      REQUIRE(question != nullptr);
      CHECK(question->text().contains(name));
      for (QAbstractButton* const button : question->buttons())
        if (question->buttonRole(button) == role) return button->click();
    });
    dialog.write_asking(folder.path());
    return read_text_file(folder.filePath(name).toStdString(), "a file");
  };
  CHECK(answer_with(QMessageBox::RejectRole) == "edited");
  CHECK(dialog.words() == "Nothing was written.");
  CHECK(answer_with(QMessageBox::DestructiveRole) == own);
}

TEST_CASE("a framework that cannot train the plan says why, and nothing is written") {
  const QTemporaryDir folder;
  QuestionForm form = small_form();
  form[Field::optimizer] = "adagrad";
  form[Field::framework] = "any";
  const session::SearchAnswer answer = session::search(search_request(form));
  LaunchDialog dialog(priced(answer.plans.front(), answer.request.question));
  REQUIRE(dialog.choose_target("megatron-lm"));
  REQUIRE(wait_for([&] { return dialog.is_complete(); }));
  CHECK(dialog.words().contains("adagrad"));
  dialog.write(folder.filePath("out"));
  CHECK(QDir(folder.filePath("out")).entryList(QDir::Files).isEmpty());
}

}  // namespace plumbline::gui
