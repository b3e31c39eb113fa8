#pragma once
/// \file values.h: values of Megatron's flags as the readers of a table's rows take them, each refused in one sentence.
///
/// Checked against: tests/unit/planner/frameworks/megatron/launch_files_test.cpp.

#include <cstdint>
#include <limits>
#include <string>

#include "core/base/errors.h"
#include "core/io/json.h"

namespace plumbline::megatron {

inline constexpr std::int64_t largest_degree = std::numeric_limits<std::int32_t>::max();

[[nodiscard]] inline std::int64_t whole(const Json& value, std::int64_t smallest, std::int64_t largest) {
  const std::int64_t* const number = value.if_integer();
  if (number != nullptr && *number >= smallest && *number <= largest) return *number;
  throw InputError({"", "found " + (number != nullptr ? std::to_string(*number) : std::string(value.type_name())),
                    "a whole number from " + std::to_string(smallest) + " to " + std::to_string(largest), ""});
}

[[nodiscard]] inline std::int32_t degree(const Json& value) {
  return static_cast<std::int32_t>(whole(value, 1, largest_degree));
}

[[nodiscard]] inline double real(const Json& value) {
  if (const std::int64_t* const number = value.if_integer()) return static_cast<double>(*number);
  if (const double* const number = value.if_double()) return *number;
  throw InputError({"", "found " + std::string(value.type_name()), "a number", ""});
}

/// A word; anything else as JSON writes it.
[[nodiscard]] inline std::string word(const Json& value) {
  if (const std::string* const text = value.if_string()) return *text;
  std::string text = to_json_text(value, -1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// Of a flag: anything but false.
[[nodiscard]] inline bool is_on(const Json& value) { return value.if_bool() == nullptr || *value.if_bool(); }

}  // namespace plumbline::megatron
