#pragma once
/// \file use_cases.h: the use-cases of planner/session, and a run (run.h), as functions of the module: arguments are
/// flags.
///
/// Model: Python's `global_batch=512` comes as {"--global-batch", "512"}; the session reads the texts as it reads those
/// of the command line. What no option takes is refused with the nearest name. Neither needs the interpreter.
/// Checked against: tests/python/errors_test.py, tests/python/surface_test.py.

#include <map>
#include <string>
#include <vector>

#include "planner/session/use_case/use_case.h"
#include "python/stub_types.h"

namespace plumbline::python {

using session::Answer;
using session::PricedPlan;
using session::SharedPlan;
using session::Work;

/// By the flag's name; a flag without a value is "on" or "off".
using Given = std::map<std::string, std::string>;

/// Flags are read at once, the work is done when it is run. Throws InputError in the words of the command line, and for
/// an argument that the function does not have.
[[nodiscard]] Work work_of(const std::string& function, Given given, const session::Inputs& inputs);

/// The flags that a function reads, in order, each with its argument's type; empty where the package types it.
[[nodiscard]] std::vector<TypedName> flag_types(const std::string& function);

}  // namespace plumbline::python
