#pragma once
/// \file verbs.h: what the C library can be asked, as rows: the use-cases of planner/session, a run (run.h), export,
/// changes and the catalogues.
///
/// What no option takes is refused with the nearest name.
/// Checked against: tests/capi/answers_test.py, tests/python.

#include <string>
#include <vector>

#include "capi/question.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::capi {

/// Flags are read at once, the work is done when it is run. Throws InputError in the words of the command line, for an
/// argument that the verb does not have, and for a verb that is none.
[[nodiscard]] session::Work work_of(const std::string& verb, Question question);

/// Verbs with their options, and the keys of a strategy in every answer (plumbline.h: plumbline_verbs).
[[nodiscard]] Json verbs_json();

}  // namespace plumbline::capi
