#pragma once
/// \file field_choices.h: the names that a field of the question offers.

#include <QStringList>

#include "gui/question/question_form.h"

namespace plumbline::gui {

/// Empty: the field is typed. Names that may be left out do not include the empty one.
[[nodiscard]] QStringList choices_of(Field field);

}  // namespace plumbline::gui
