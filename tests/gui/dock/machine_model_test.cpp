#include "gui/dock/machine_model.h"

#include <QAbstractItemModelTester>

#include "gui/dock/machine_dialog.h"

#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "gui/text.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui {
namespace {

struct Asked {
  QuestionModel question;
  Asked() { question.replace(small_form(), "question"); }
};

int row_of(const QAbstractItemModel& model, const QString& part, const QString& name) {
  for (int row = 0; row < model.rowCount(); ++row)
    if (model.index(row, MachineModel::part).data().toString() == part &&
        model.index(row, MachineModel::name).data().toString() == name)
      return row;
  return -1;
}

void press(const QDialog& dialog, const QString& words) {
  for (QPushButton* const button : dialog.findChildren<QPushButton*>())
    if (button->text().remove('&').contains(words)) QTest::mouseClick(button, Qt::LeftButton);
}

}  // namespace

TEST_CASE("the numbers of a cluster are a model as Qt asks for, whatever is edited") {
  Asked asked;
  MachineModel model(asked.question);
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const int row = row_of(model, "H100-SXM-80GB", "memory");
  REQUIRE(row >= 0);
  CHECK(model.setData(model.index(row, MachineModel::value), "40 GiB", Qt::EditRole));
  CHECK(model.is_edited(row));
  CHECK(model.index(row, MachineModel::value).data().toString() == "40 GiB");
  CHECK(model.index(row, MachineModel::kind).data().toString() == "assumed");
  CHECK(model.index(row, MachineModel::value).data(Qt::ToolTipRole).toString().contains("80998 MiB"));
  CHECK_FALSE(model.setData(model.index(row, MachineModel::part), "other", Qt::EditRole));
  asked.question.set(Field::machine, "dgx-a100-80g");
  CHECK(row_of(model, "H100-SXM-80GB", "memory") == -1);
  CHECK(asked.question.form().machine_edits.empty());
  asked.question.set(Field::machine, "no-such-machine");
  CHECK(model.rowCount() == 0);
  CHECK(model.trouble().contains("no-such-machine"));
}

TEST_CASE("an edit of a number is a change of the question, undone and redone with the others") {
  Asked asked;
  MachineModel model(asked.question);
  const int row = row_of(model, "H100-SXM-80GB", "memory");
  REQUIRE(model.setData(model.index(row, MachineModel::value), "40 GiB", Qt::EditRole));
  asked.question.changes().undo();
  CHECK(asked.question.form() == small_form());
  CHECK(model.index(row, MachineModel::value).data().toString() == "80998 MiB");
  asked.question.changes().redo();
  CHECK(model.index(row, MachineModel::value).data().toString() == "40 GiB");
  model.reset(row);
  CHECK(asked.question.form() == small_form());
}

TEST_CASE("typing the cluster's own value again is no edit") {
  Asked asked;
  MachineModel model(asked.question);
  const int row = row_of(model, "H100-SXM-80GB", "memory");
  REQUIRE(model.setData(model.index(row, MachineModel::value), "40 GiB", Qt::EditRole));
  REQUIRE(model.setData(model.index(row, MachineModel::value), "80998 MiB", Qt::EditRole));
  CHECK(asked.question.form().machine_edits.empty());
}

TEST_CASE("a wrong number is refused in the words of the file's reader, and the question stays") {
  Asked asked;
  MachineModel model(asked.question);
  const QSignalSpy refused(&model, &MachineModel::refused);
  const int row = row_of(model, "H100-SXM-80GB", "memory");
  CHECK_FALSE(model.setData(model.index(row, MachineModel::value), "eighty", Qt::EditRole));
  REQUIRE(refused.count() == 1);
  CHECK(refused.front().front().toString().contains("/cluster/nodes/0/device/memory"));
  CHECK(asked.question.form() == small_form());
}

TEST_CASE("a number is found, typed with keys and reset in the dialog") {
  Asked asked;
  MachineDialog dialog(asked.question);
  dialog.show();
  auto* const filter = dialog.findChild<QLineEdit*>();
  QTest::keyClicks(filter, "memory bandwidth");
  QAbstractItemModel& shown = *dialog.view().model();
  REQUIRE(shown.rowCount() == 1);
  const QModelIndex cell = shown.index(0, MachineModel::value);
  dialog.view().setCurrentIndex(cell);
  dialog.view().edit(cell);
  auto* const editor = dialog.view().viewport()->findChild<QLineEdit*>();
  REQUIRE(editor != nullptr);
  editor->selectAll();
  QTest::keyClicks(editor, "3 TB/s");
  QTest::keyClick(editor, Qt::Key_Return);
  REQUIRE(wait_for([&] { return asked.question.form().machine_edits.size() == 1; }));
  CHECK(asked.question.form().machine_edits.front().value == "3 TB/s");
  CHECK(dialog.words().contains("1"));
  dialog.view().selectRow(0);
  press(dialog, "chosen");
  CHECK(asked.question.form().machine_edits.empty());
  CHECK(shown.index(0, MachineModel::value).data().toString() != "3 TB/s");
}

}  // namespace plumbline::gui
