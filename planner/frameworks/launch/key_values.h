#pragma once
/// \file key_values.h: values of keys, as `read` of a LaunchKey takes and `write` gives them.
///
/// Each reader throws InputError (what was found, what is expected; read_tree adds the place).
/// Checked against: tests/unit/planner/frameworks/launch/key_values_test.cpp.

#include <cstdint>
#include <optional>
#include <string>

#include "core/io/json.h"

namespace plumbline {

/// A number of things: from 0 (or `smallest`) to 10^12; 1e3 is one too.
[[nodiscard]] std::int64_t count_value(const Json& value, std::int64_t smallest = 0);
/// A number of ranks: 1 to a million.
[[nodiscard]] std::int32_t degree_value(const Json& value);
/// true and false, also as words.
[[nodiscard]] bool flag_value(const Json& value);
[[nodiscard]] double number_value(const Json& value);
/// The value's own text: a reference to it lives as long as the value.
[[nodiscard]] const std::string& word_value(const Json& value);

template <class Value>
[[nodiscard]] std::optional<Json> written(const std::optional<Value>& value) {
  if (!value) return std::nullopt;
  return Json(*value);
}
/// Of a degree that is more than 1.
[[nodiscard]] std::optional<Json> written_degree(const std::optional<std::int32_t>& degree);
/// true, or nothing.
[[nodiscard]] std::optional<Json> written_where(bool holds);

}  // namespace plumbline
