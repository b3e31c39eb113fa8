#include "gui/dock/question_dock.h"

#include <QLineEdit>
#include <QTest>

#include "gui/dock/field_edit.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui::question_dock_test {
namespace {

struct Asked {
  QuestionModel model;
  SearchSession search;
  QuestionDock dock{model, search};
  std::vector<SharedFound> found;

  Asked() {
    QObject::connect(&search, &SearchSession::answered, [this](const SharedFound& one) { found.push_back(one); });
    dock.resize(292, 800);
    dock.show();
  }
  /// Where keys go.
  [[nodiscard]] QLineEdit& editor(Field field) const { return *dock.field(field).findChild<QLineEdit*>(); }
  void type(Field of, const char* text) const {
    QLineEdit& line = editor(of);
    line.setFocus();
    line.selectAll();
    QTest::keyClicks(&line, text);
  }
};

}  // namespace

TEST_CASE("typing a question starts its search, once") {
  Asked asked;
  asked.type(Field::model, "gpt2");
  asked.type(Field::machine, "dgx-h100");
  CHECK_FALSE(asked.search.is_busy());  // there is no batch yet
  asked.type(field_of("--zero"), "0");
  asked.type(Field::batch, "64");
  CHECK(asked.search.is_busy());
  REQUIRE(wait_for([&] { return !asked.search.is_busy(); }));
  REQUIRE(asked.found.size() == 1);
  CHECK(asked.found.front()->answer.plans.front().training.global_batch == 64);
  CHECK(asked.dock.status().contains("plans considered"));
}

TEST_CASE("a wrong value is marked where it stands and searches nothing, until it is mended") {
  Asked asked;
  asked.model.replace(small_form(), "question");
  asked.type(Field::gpus, "eight");
  CHECK(asked.dock.field(Field::gpus).refusal().startsWith("--gpus: \"eight\" is not a whole number"));
  CHECK(asked.dock.field(Field::batch).refusal().isEmpty());
  CHECK_FALSE(asked.search.is_busy());
  asked.type(Field::gpus, "8");
  CHECK(asked.dock.field(Field::gpus).refusal().isEmpty());
  REQUIRE(wait_for([&] { return !asked.search.is_busy(); }));
  CHECK(asked.found.size() == 1);
}

TEST_CASE("a name that no catalogue has is marked, with the nearest one") {
  Asked asked;
  QuestionForm form = small_form();
  form[Field::model] = "gpt22";
  asked.model.replace(form, "question");
  REQUIRE(wait_for([&] { return !asked.search.is_busy(); }));
  CHECK(asked.found.empty());
  CHECK(asked.dock.field(Field::model).refusal().contains("gpt2"));
}

TEST_CASE("undo writes the fields as they were") {
  Asked asked;
  asked.model.replace(small_form(), "question");
  asked.type(Field::batch, "128");
  CHECK(asked.dock.field(Field::batch).text() == "128");
  asked.model.changes().undo();
  CHECK(asked.dock.field(Field::batch).text() == "64");
  asked.model.changes().undo();
  CHECK(asked.dock.field(Field::model).text().isEmpty());
}

TEST_CASE("the keys of undo in a field are left to the question, and a value that was left with Tab is a step") {
  Asked asked;
  asked.type(Field::batch, "512");
  QTest::keyClick(&asked.editor(Field::batch), Qt::Key_Tab);
  asked.type(Field::batch, "256");
  QTest::keyClick(&asked.editor(Field::batch), Qt::Key_Return);
  for (const Field field : {Field::batch, Field::tokens}) {  // one has an undo of its own, one has none
    QKeyEvent key(QEvent::ShortcutOverride, Qt::Key_Z, Qt::ControlModifier);
    QCoreApplication::sendEvent(&asked.editor(field), &key);
    CHECK_FALSE(key.isAccepted());
  }
  QTest::keyClick(&asked.editor(Field::batch), Qt::Key_Z, Qt::ControlModifier);  // nobody takes the shortcut here
  CHECK(asked.dock.field(Field::batch).text() == "256");
  asked.model.changes().undo();
  CHECK(asked.dock.field(Field::batch).text() == "512");
  asked.model.changes().undo();
  CHECK(asked.dock.field(Field::batch).text().isEmpty());
}

TEST_CASE("a command line that is pasted into a field is the question") {
  const Asked asked;
  QLineEdit& line = asked.editor(Field::model);
  line.insert("plan search --model gpt2 --machine dgx-h100 --gpus 8");
  Q_EMIT line.textEdited(line.text());
  CHECK(asked.model.form()[Field::model] == "gpt2");
  CHECK(asked.model.form()[Field::gpus] == "8");
  CHECK(line.text() == "gpt2");
  line.setText("plan search --modle gpt2");
  Q_EMIT line.textEdited(line.text());
  CHECK(asked.dock.field(Field::model).refusal().contains("--modle"));
  CHECK(asked.model.form()[Field::gpus] == "8");
}

TEST_CASE("every field has a name for who does not see it") {
  const Asked asked;
  for (const FieldFacts& facts : all_fields()) CHECK_FALSE(asked.editor(facts.field).accessibleName().isEmpty());
}

}  // namespace plumbline::gui::question_dock_test
