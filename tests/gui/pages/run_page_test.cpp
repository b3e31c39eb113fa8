#include "gui/pages/run/run_page.h"

#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "core/io/run_record_json.h"
#include "gui/files/open_file.h"
#include "gui/pages/run/step_plot.h"
#include "tests/catch.h"
#include "tests/gui/pages/command.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui {
namespace {

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
    page.process().set_program(command_file());
    page.show_plan(plan);
    page.findChild<QSpinBox*>()->setValue(3);
    page.show();
  }
  void click_run() {
    for (QPushButton* const button : page.findChildren<QPushButton*>())
      if (button->objectName() == "primary") QTest::mouseClick(button, Qt::LeftButton);
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
  ran.page.process().set_program(script(folder, "echo noise >&2; echo 'plan: no memory' >&2; exit 3"));
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words() == "plan: no memory");
  CHECK(ran.page.compared_words().isEmpty());
}

TEST_CASE("a child that is killed, says nothing, babbles or is not there is one line too") {
  const QTemporaryDir folder;
  for (const char* const text : {"kill -9 $$", "exit 3", "head -c 300000 /dev/zero; exit 1"}) {
    Ran ran(plan_of("this-computer"));
    ran.page.process().set_program(script(folder, text));
    ran.click_run();
    REQUIRE(wait_for([&] { return ran.page.is_complete() && !ran.last_words().isEmpty(); }));
    CHECK_FALSE(ran.last_words().contains('\n'));
  }
  Ran ran(plan_of("this-computer"));
  ran.page.process().set_program(folder.filePath("nowhere"));
  ran.click_run();
  REQUIRE(wait_for([&] { return !ran.last_words().isEmpty(); }));
  CHECK(ran.last_words().contains("cannot be started"));
}

TEST_CASE("ranks are threads of the CPU, or CUDA's where a key chooses it") {
  const QTemporaryDir folder;
  Ran ran(plan_of("this-computer"));
  ran.page.process().set_program(script(folder, "echo \"$@\" >&2; exit 1"));
  const auto asked = [&] {
    ran.said.clear();
    ran.click_run();
    REQUIRE(wait_for([&] { return ran.page.is_complete() && !ran.last_words().isEmpty(); }));
    return ran.last_words();
  };
  CHECK_FALSE(asked().contains("--backend"));
  QTest::keyClick(ran.page.findChild<QComboBox*>(), Qt::Key_Down);
  CHECK(asked().endsWith("--backend cuda"));
  QTest::keyClick(ran.page.findChild<QComboBox*>(), Qt::Key_Down);
  CHECK(asked().endsWith("--backend cuda --ranks nccl"));
}

TEST_CASE("a run that is stopped before a step says so, and is no error") {
  const QTemporaryDir folder;
  Ran ran(plan_of("this-computer"));
  ran.page.process().set_program(script(folder, "exec sleep 60"));
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.process().is_running(); }));
  QTest::qWait(100);
  for (QPushButton* const button : ran.page.findChildren<QPushButton*>())
    if (button->text() == "S&top") QTest::mouseClick(button, Qt::LeftButton);
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.last_words().isEmpty());
  CHECK(ran.page.compared_words().isEmpty());
  const QList<QLabel*> labels = ran.page.findChildren<QLabel*>();
  CHECK(std::any_of(labels.begin(), labels.end(),
                    [](const QLabel* label) { return label->text() == "stopped before a step was measured"; }));
}

TEST_CASE("the record of a run on a GPU has a table of its device's memory") {
  Ran ran(plan_of("this-computer"));
  ran.click_run();
  REQUIRE(wait_for([&] { return ran.page.is_complete(); }));
  CHECK(ran.page.tables().size() == 3);
  RunRecord record = read_run_record_file(ran.page.process().record_file().toStdString());
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
  const QString record = ran.page.process().record_file();
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
    ran.page.process().set_program(script(folder, "exec sleep 60"));
    ran.click_run();
    REQUIRE(wait_for([&] { return ran.page.process().is_running(); }));
  }
  CHECK(true);  // its destructor came back
}

}  // namespace plumbline::gui
