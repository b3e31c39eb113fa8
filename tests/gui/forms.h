#pragma once
/// \file forms.h: questions whose search takes a moment.

#include "gui/question/question_form.h"

namespace plumbline::gui {

inline QuestionForm small_form() {
  QuestionForm form;
  form[Field::model] = "gpt2";
  form[Field::machine] = "dgx-h100";
  form[Field::gpus] = "8";
  form[Field::batch] = "64";
  form[field_of("--zero")] = "0";
  return form;
}

/// Takes long enough to be cancelled.
inline QuestionForm large_form() {
  QuestionForm form;
  form[Field::model] = "deepseek-v3";
  form[Field::machine] = "dgx-h100";
  form[Field::gpus] = "2048";
  form[Field::sequence] = "4096";
  form[Field::batch] = "16384";
  form[Field::framework] = "any";
  return form;
}

}  // namespace plumbline::gui
