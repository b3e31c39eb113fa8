#pragma once
/// \file json_difference.h: the first place in which two JSON values differ.
///
/// Members are compared by key, whatever their order; a whole number equals the same number with a fraction of zero.
/// Checked against: tests/unit/core/io/json_difference_test.cpp.

#include <optional>
#include <string>

#include "core/io/json.h"

namespace plumbline {

struct JsonDifference {
  std::string path;      ///< "/blocks/1/shape/0"; empty: the values as a whole
  std::string found;     ///< as text, shortened
  std::string expected;  ///< likewise
};

/// Nothing where they are equal.
[[nodiscard]] std::optional<JsonDifference> json_difference(const Json& found, const Json& expected);

}  // namespace plumbline
