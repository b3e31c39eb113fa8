#pragma once
/// \file usual_values.h: values of keys that say no more than a framework does anyway.
///
/// A key that changes memory or time and has no value of ours is named by an import, unless it says what is usual.
/// Checked against: tests/unit/planner/frameworks/launch/usual_values_test.cpp.

#include <string_view>
#include <vector>

#include "core/io/json.h"

namespace plumbline {

/// A number, true and false as 1 and 0, or a word.
struct UsualValue {
  std::string_view path;  ///< as LaunchKey's
  double number = 0;
  std::string_view word = {};  ///< where not empty, it counts
};

/// The tree without keys that have their usual value and without sections that are switched off ("enabled": false) or
/// name no device ("device": "none"), except those in `kept`: `count` says how many. Without "auto", too, which leaves
/// a value to the script: not counted.
[[nodiscard]] Json without_usual_values(const Json& tree, const std::vector<UsualValue>& usual,
                                        const std::vector<std::string_view>& kept, std::int64_t& count);

}  // namespace plumbline
