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

TEST_CASE("each value that was committed is a step of undo, also of one field") {
  QuestionModel model;
  const auto type = [&](const char* before, const char* after) {
    model.set(Field::batch, before);
    model.set(Field::batch, after);
  };
  type("5", "51");
  model.set(Field::batch, "512");
  model.end_typing();
  type("51", "5");  // letters that are deleted
  model.end_typing();
  model.set(Field::batch, "256");  // pasted
  type("-", "-4");                 // in place of what was selected
  CHECK(model.changes().count() == 4);
  for (const char* const before : {"256", "5", "512", ""}) {
    model.changes().undo();
    CHECK(model.form()[Field::batch] == before);
  }
}

TEST_CASE("what is typed after an undo is another change") {
  QuestionModel model;
  model.set(Field::gpus, "6");
  model.end_typing();
  model.set(Field::gpus, "64");
  model.changes().undo();
  model.set(Field::gpus, "68");
  CHECK(model.changes().count() == 2);
  model.changes().undo();
  CHECK(model.form()[Field::gpus] == "6");
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
