#pragma once
/// \file examples.h: questions to begin with.

#include <QString>
#include <vector>

#include "gui/question/question_form.h"

namespace plumbline::gui {

struct Example {
  QString title;
  QString words;
  QuestionForm form;
};
/// The first is the one that README answers; the last one can be run on the computer at hand.
[[nodiscard]] const std::vector<Example>& examples();

}  // namespace plumbline::gui
