#pragma once
/// \file name_json.h: names in files that other people wrote: of a network, a machine, a model of a plan.
///
/// A name ends up in tables, pictures and files of other programs; none has a use for a line break or an escape code.
/// Checked against: tests/error/name_json_test.cpp.

#include <string>

#include "core/io/json.h"

namespace plumbline {

/// A string without control characters and characters that turn the direction of writing (core/base/escape.h). Throws
/// InputError with the place.
[[nodiscard]] const std::string& name_from_json(const JsonPlace& place);

}  // namespace plumbline
