#pragma once
/// \file window_json.h: a session of the window as a file ("plumbline.window/1"): the question, numbers of its
/// cluster that were edited, and the page in front.
///
/// Checked against: tests/gui/io/window_json_test.cpp.

#include <string>

#include "core/io/json.h"
#include "gui/question/question_form.h"

namespace plumbline::gui {

inline constexpr std::string_view window_format = "plumbline.window/1";

struct WindowState {
  QuestionForm form;
  std::string page;  ///< its id
};

[[nodiscard]] Json to_json(const WindowState& state);
/// Throws InputError, as every reader of this program's files.
[[nodiscard]] WindowState window_state_from_json(const JsonPlace& root);

}  // namespace plumbline::gui
