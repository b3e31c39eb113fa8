#pragma once
/// \file cluster_words.h: how many nodes the GPUs of a question are.

#include <QString>

#include "gui/question/question_form.h"

namespace plumbline::gui {

/// "8 nodes of 8 GPUs", of the catalogue or a machine file; empty: the cluster or the number is none, or it is this
/// computer.
[[nodiscard]] QString cluster_words(const QuestionForm& form);

}  // namespace plumbline::gui
