#pragma once
/// \file command_text.h: a question or a plan as the line of the command, or of Python, that asks the same, and back.
///
/// Texts are those of the form, which are the texts of flags. A deadline and a budget are flags of `plan size` alone:
/// `plan search` ranks all the same without them.
/// Checked against: tests/gui/question/command_text_test.cpp.

#include <optional>
#include <string>
#include <string_view>

#include "gui/question/question_form.h"

namespace plumbline::gui {

/// "plan search --model llama-3-8b --machine dgx-h100 ... --fix tp=8", quoted for a POSIX shell. Throws InputError
/// where a constraint is wrong, and as `edited_machine_file`.
[[nodiscard]] std::string search_command(const QuestionForm& form);
/// "plan estimate ... --tp 8": the plan by itself, as an answer to the question.
[[nodiscard]] std::string estimate_command(const QuestionForm& form, const Plan& plan);
/// "plumbline.search(model="llama-3-8b", ...)", without its import.
[[nodiscard]] std::string search_python(const QuestionForm& form);
[[nodiscard]] std::string estimate_python(const QuestionForm& form, const Plan& plan);

/// Whether it begins as a command line that asks a question: of search, estimate, fit or size.
[[nodiscard]] bool is_command(std::string_view text);
/// Throws InputError for a flag that no field has, a flag without its value, and what no shell script may hold
/// (planner/frameworks/syntax/arguments.h).
[[nodiscard]] QuestionForm form_of_command(std::string_view text);

/// The field of an axis without the value that `strategy` has there: the values that a search tries else, as a
/// constraint; nothing where there is no other value, or too many to write.
[[nodiscard]] std::optional<std::string> others_than(const StrategyAxis& axis, const Plan& plan);

}  // namespace plumbline::gui
