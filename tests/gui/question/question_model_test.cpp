#include "gui/question/question_model.h"

#include "tests/catch.h"
#include "tests/gui/forms.h"

namespace plumbline::gui {

TEST_CASE("changes of a question are undone and redone, letters of one field together") {
  QuestionModel model;
  int changes = 0;
  QObject::connect(&model, &QuestionModel::changed, [&] { ++changes; });
  model.set(Field::gpus, "6");
  model.set(Field::gpus, "64");
  model.set(Field::batch, "512");
  CHECK(changes == 3);
  CHECK(model.changes().count() == 2);
  model.changes().undo();
  CHECK(model.form()[Field::batch].empty());
  CHECK(model.form()[Field::gpus] == "64");
  model.changes().undo();
  CHECK(model.form() == QuestionForm());
  model.changes().redo();
  CHECK(model.form()[Field::gpus] == "64");
}

TEST_CASE("a whole question is replaced in one change") {
  QuestionModel model;
  model.replace(small_form(), "example");
  CHECK(model.form() == small_form());
  model.replace(small_form(), "the same");
  CHECK(model.changes().count() == 1);
  model.changes().undo();
  CHECK(model.form() == QuestionForm());
}

TEST_CASE("a text that is set to itself is no change") {
  QuestionModel model;
  model.set(Field::model, "gpt2");
  model.set(Field::model, "gpt2");
  CHECK(model.changes().count() == 1);
}

}  // namespace plumbline::gui
