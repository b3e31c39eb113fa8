#pragma once
/// \file question.h: a question as JSON, as the texts of flags and the files that are named beside them.
///
/// Model: {"seq_len": 8192} is --seq-len 8192; true is on, 8.0 is 8, a list is a,b,c, an object key=value,... with a|b
/// for a list; null was not given. `plan`, `import`, `against` and `files` are inputs. The session reads the texts as
/// it reads those of the command line. Checked against: tests/capi/answers_test.py,
/// tests/python/answers_test.py.

#include <map>
#include <string>
#include <string_view>

#include "core/io/json.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::capi {

/// By the flag's name; a flag without a value is "on" or "off".
using Given = std::map<std::string, std::string>;

struct Question {
  Given given;
  session::Inputs inputs;
  bool with_offers = true;  ///< of `fit`: also what would make it fit
};

/// `text`: an object of JSON. Throws InputError.
[[nodiscard]] Question read_question(std::string_view text);

/// A value as the text of its flag.
[[nodiscard]] std::string flag_text(const Json& value);

}  // namespace plumbline::capi
