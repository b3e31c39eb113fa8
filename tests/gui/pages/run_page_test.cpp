#include "gui/pages/run/run_page.h"

#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <iterator>
#include <vector>

#include "core/io/output_file.h"
#include "core/io/run_record_json.h"
#include "gui/export/plan_export.h"
#include "gui/files/open_file.h"
#include "gui/pages/run/step_plot.h"
#include "jobs/run_in_process.h"
#include "tests/catch.h"
#include "tests/gui/pages/command.h"
#include "tests/gui/pages/plans.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui {
namespace {

constexpr int many_steps = 100'000;

SharedPlan plan_of(const char* machine) {
  session::StrategyRequest request;
  request.question.model = "nano-gpt";
  request.question.machine = machine;
  request.question.devices = 1;
  request.question.training.global_batch = 2;
  request.question.training.sequence_length = 32;
  return priced(session::EstimateRequest(request));
}

struct Ran {
  RunPage page;
  QSignalSpy said{&page, &RunPage::said};

  explicit Ran(const SharedPlan& plan) {
    page.resize(980, 740);
    page.run().process().set_program(command_file());
    page.show_plan(plan);
    page.findChild<QSpinBox*>()->setValue(3);
    page.show();
  }
  void click_run() {
    for (QPushButton* const button : page.findChildren<QPushButton*>())
      if (button->objectName() == "primary") QTest::mouseClick(button, Qt::LeftButton);
  }
  void click_stop() {
    for (QPushButton* const button : page.findChildren<QPushButton*>())
      if (button->text() == "S&top") QTest::mouseClick(button, Qt::LeftButton);
  }
  /// In place of `plan`; ranks that are no threads of the CPU are run by it.
  void run_by(const QString& program) {
    page.run().process().set_program(program);
    page.findChild<QComboBox*>()->setCurrentIndex(1);
  }
  [[nodiscard]] bool says(const QString& words) const {
    const QList<QLabel*> labels = page.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text() == words; });
  }
  [[nodiscard]] QString last_words() const { return said.isEmpty() ? QString() : said.back().front().toString(); }
};

/// A program in place of `plan`.
QString script(const QTemporaryDir& folder, const QByteArray& text) {
  QFile file(folder.filePath("plan"));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write("#!/bin/sh\n" + text + "\n");
  file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  return file.fileName();
}

}  // namespace

TEST_CASE("a plan is run by a click, its losses are drawn, and predicted is held against measured") {
  Ran ran(plan_of("this-computer"));
  const QSignalSpy recorded(&ran.page, &RunPage::recorded);
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  INFO(ran.last_words().toStdString());
  REQUIRE(ran.page.losses().steps().size() == 3);
  CHECK(ran.page.losses().steps().back().step == 3);
  for (const RunLine& step : ran.page.throughput().steps()) CHECK(step.tokens_per_second > 0);
  CHECK(ran.page.compared_words().contains("measured"));
  CHECK(ran.page.tables().size() == 3);
  CHECK(recorded.count() == 1);
  CHECK(ran.last_words().isEmpty());
}

TEST_CASE("a child that fails leaves one line and the window as it was") {
  const QTemporaryDir folder;
  Ran ran(plan_of("this-computer"));
  ran.run_by(script(folder, "echo noise >&2; echo 'plan: no memory' >&2; exit 3"));
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words() == "plan: no memory");
  CHECK(ran.page.compared_words().isEmpty());
}

TEST_CASE("a child that is killed, says nothing, babbles or is not there is one line too") {
  const QTemporaryDir folder;
  for (const char* const text : {"kill -9 $$", "exit 3", "head -c 300000 /dev/zero; exit 1"}) {
    Ran ran(plan_of("this-computer"));
    ran.run_by(script(folder, text));
    ran.click_run();
    REQUIRE(wait_for([&] { return ran.page.is_complete() && !ran.last_words().isEmpty(); }));
    CHECK_FALSE(ran.last_words().contains('\n'));
  }
  Ran ran(plan_of("this-computer"));
  ran.run_by(folder.filePath("nowhere"));
  ran.click_run();
  REQUIRE(wait_for([&] { return !ran.last_words().isEmpty(); }));
  CHECK(ran.last_words().contains("cannot be started"));
}

TEST_CASE("ranks are threads of this process, or a child's with CUDA where a key chooses it") {
  const QTemporaryDir folder;
  Ran ran(plan_of("this-computer"));
  ran.page.run().process().set_program(script(folder, "echo \"$@\" >&2; exit 1"));
  const auto asked = [&] {
    ran.said.clear();
    ran.click_run();
    REQUIRE(wait_for([&] { return ran.page.is_complete() && !ran.last_words().isEmpty(); }));
    return ran.last_words();
  };
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words().isEmpty());
  CHECK(ran.page.losses().steps().size() == 3);
  QTest::keyClick(ran.page.findChild<QComboBox*>(), Qt::Key_Down);
  const QString words = asked();
  CHECK(words.endsWith("--backend cuda"));
  CHECK(words.contains("--steps 3"));
  CHECK(words.contains("--generate 0"));
  QTest::keyClick(ran.page.findChild<QComboBox*>(), Qt::Key_Down);
  CHECK(asked().endsWith("--backend cuda --ranks nccl"));
}

TEST_CASE("a child that trains is followed as a thread of this process is") {
  const QTemporaryDir folder;
  // Ranks of the CPU in place of CUDA's.
  const QString cpu = script(folder,
                             "while [ \"$1\" != --backend ]; do set -- \"$@\" \"$1\"; shift; done; shift 2\n"
                             "exec '" +
                                 command_file().toUtf8() + "' \"$@\"");
  Ran ran(plan_of("this-computer"));
  ran.run_by(cpu);
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  INFO(ran.last_words().toStdString());
  REQUIRE(ran.page.losses().steps().size() == 3);
  CHECK(ran.page.compared_words().contains("measured"));
  ran.page.set_steps(many_steps);
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.losses().steps().size() >= 2; }));
  ran.click_stop();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words().isEmpty());
  CHECK(read_run_record_file(ran.page.run().record_file().toStdString()).steps.size() ==
        ran.page.losses().steps().size());
}

TEST_CASE("a run that is stopped before a step says so, and is no error") {
  const QTemporaryDir folder;
  Ran ran(plan_of("this-computer"));
  ran.run_by(script(folder, "exec sleep 60"));
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.run().is_running(); }));
  QTest::qWait(100);
  ran.click_stop();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words().isEmpty());
  CHECK(ran.page.compared_words().isEmpty());
  CHECK(ran.says("stopped before a step was measured"));
}

TEST_CASE("a run of this process has the losses that the command has") {
  const SharedPlan plan = plan_of("this-computer");
  Ran ran(plan);
  ran.run_by("nowhere");
  ran.page.findChild<QComboBox*>()->setCurrentIndex(0);
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  const QTemporaryDir folder;
  const QString file = folder.filePath("plan.json"), record = folder.filePath("record.json");
  write_output_file(file.toStdString(), plan_text(*plan));
  QProcess command;
  command.start(command_file(), {"run", "--plan", file, "--steps", "3", "--generate", "0", "--record", record});
  REQUIRE(command.waitForFinished(-1));
  const RunRecord theirs = read_run_record_file(record.toStdString());
  const std::vector<RunLine>& ours = ran.page.losses().steps();
  REQUIRE(ours.size() == theirs.steps.size());
  for (std::size_t step = 0; step < ours.size(); ++step) CHECK(ours[step].loss == Approx(theirs.steps[step].loss));
  const RunRecord recorded = read_run_record_file(ran.page.run().record_file().toStdString());
  CHECK(recorded.plan_fingerprint == theirs.plan_fingerprint);
  CHECK(recorded.steps.size() == 3);
}

TEST_CASE("a run of this process that is stopped is recorded up to there and compared") {
  Ran ran(plan_of("this-computer"));
  ran.page.set_steps(many_steps);
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.losses().steps().size() >= 2; }));
  CHECK_FALSE(ran.page.is_complete());
  ran.click_stop();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words().isEmpty());
  CHECK(std::ssize(ran.page.losses().steps()) < many_steps);
  CHECK(read_run_record_file(ran.page.run().record_file().toStdString()).steps.size() ==
        ran.page.losses().steps().size());
  CHECK(ran.page.compared_words().contains("every byte is as predicted"));
}

TEST_CASE("a run of this process that is stopped at once says so, and is no error") {
  Ran ran(plan_of("this-computer"));
  ran.click_run();
  ran.page.run().stop();  // before its thread has prepared the plan
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words().isEmpty());
  CHECK((ran.says("stopped before a step was measured") || !ran.page.losses().steps().empty()));
}

TEST_CASE("what a run of this process throws is a line, and the next plan is run") {
  AskedPlan large;
  large.devices = 128;
  large.global_batch = 128;
  Ran ran(priced(large));
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words() == "plan:/strategy: the plan has 128 ranks; expected at most 64 on this computer");
  CHECK(ran.says("failed"));
  CHECK(ran.page.losses().steps().empty());
  ran.page.show_plan(plan_of("this-computer"));
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words().isEmpty());
  CHECK(ran.page.losses().steps().size() == 3);
}

TEST_CASE("a record that cannot be written is a line") {
  Ran ran(plan_of("this-computer"));
  REQUIRE(QDir(QFileInfo(ran.page.run().record_file()).path()).removeRecursively());
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words().contains("measured.json"));
  CHECK_FALSE(ran.last_words().contains('\n'));
}

TEST_CASE("a page that is closed during a run of this process ends it and removes its files") {
  QString folder;
  {
    Ran ran(plan_of("this-computer"));
    folder = QFileInfo(ran.page.run().record_file()).path();
    REQUIRE(QFileInfo::exists(folder));
    ran.page.set_steps(many_steps);
    ran.click_run();
    REQUIRE(wait_for([&] { return !ran.page.losses().steps().empty(); }));
  }
  CHECK_FALSE(jobs::is_running());
  CHECK_FALSE(QFileInfo::exists(folder));
  Ran next(plan_of("this-computer"));
  next.click_run();
  REQUIRE(wait_for([&] { return next.page.is_complete(); }));
  CHECK(next.last_words().isEmpty());
  CHECK(next.page.losses().steps().size() == 3);
}

TEST_CASE("where a launcher started the window among others, ranks are left to a process") {
  const QTemporaryDir folder;
  for (const char* const name : {"RANK", "LOCAL_RANK"}) qputenv(name, "0");
  qputenv("WORLD_SIZE", "2");
  Ran ran(plan_of("this-computer"));
  ran.page.run().process().set_program(script(folder, "echo child >&2; exit 1"));
  ran.click_run();
  const bool has_ended = wait_for([&] { return ran.page.is_complete(); });
  for (const char* const name : {"RANK", "LOCAL_RANK", "WORLD_SIZE"}) qunsetenv(name);
  REQUIRE(has_ended);
  CHECK(ran.last_words() == "child");
}

TEST_CASE("the record of a run on a GPU has a table of its device's memory") {
  Ran ran(plan_of("this-computer"));
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.page.tables().size() == 3);
  RunRecord record = read_run_record_file(ran.page.run().record_file().toStdString());
  DeviceMemoryRecord& device = record.ranks.front().memory.device.emplace();
  device[DevicePart::context] = Bytes(600'000'000);
  device[DevicePart::arena] = record.ranks.front().memory.arena;
  const QTemporaryDir folder;
  QFile file(folder.filePath("gpu.json"));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(to_json_text(to_json(record))));
  file.close();
  ran.page.open_record(file.fileName());
  REQUIRE(wait_for([&] { return ran.page.is_complete() && ran.page.tables().size() == 4; }));
  CHECK(ran.page.tables().back().name == "run-device");
  CHECK(ran.page.compared_words().contains("the plan does not predict: context"));
}

TEST_CASE("the record of another plan is refused in a line") {
  Ran ran(plan_of("this-computer"));
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  const QString record = ran.page.run().record_file();
  RunPage other;
  QSignalSpy said(&other, &RunPage::said);
  session::StrategyRequest request;
  request.question.model = "nano-gpt";
  request.question.machine = "this-computer";
  request.question.devices = 1;
  request.question.training.global_batch = 4;
  request.question.training.sequence_length = 32;
  other.show_plan(priced(session::EstimateRequest(request)));
  other.open_record(record);
  REQUIRE(wait_for([&] { return other.is_complete(); }));
  REQUIRE(said.count() == 1);
  CHECK(said.front().front().toString().contains(record));
  CHECK(other.compared_words().isEmpty());
}

TEST_CASE("a page that is closed while its child runs ends the child") {
  const QTemporaryDir folder;
  {
    Ran ran(plan_of("this-computer"));
    ran.run_by(script(folder, "exec sleep 60"));
    ran.click_run();
    REQUIRE(wait_for([&] { return ran.page.run().is_running(); }));
  }
  CHECK(true);  // its destructor came back
}

}  // namespace plumbline::gui
