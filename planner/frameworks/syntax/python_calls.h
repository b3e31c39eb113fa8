#pragma once
/// \file python_calls.h: calls of a Python script with their keyword arguments, as a tree of values.
///
/// For scripts whose settings are literals: no Python is executed, and names are not looked up.
/// Checked against: tests/unit/planner/frameworks/syntax/python_calls_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"

namespace plumbline {

/// An object for each of the functions or classes that is called, by its name: {"Trainer": {"devices": 8}}. Where one
/// is called several times the first counts. Numbers, strings, True, False, None, tuples and lists of these are values;
/// anything else is a string with its text. Positional arguments are left out. Throws InputError (`name`, line) for a
/// text over 1 MiB and for a call that is not closed.
[[nodiscard]] Json read_python_calls(std::string_view text, std::string_view name,
                                     const std::vector<std::string_view>& functions);

/// A value of python_call that is written as it is: of this program's own words alone. No string that was read is one.
[[nodiscard]] Json python_expression(std::string_view text);
/// "Trainer(\n    devices=8,\n)"; lists become tuples.
[[nodiscard]] std::string python_call(std::string_view function, const Json& arguments);

}  // namespace plumbline
