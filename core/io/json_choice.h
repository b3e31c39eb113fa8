#pragma once
/// \file json_choice.h: a word of a file that names one of the values of an enumeration.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/base/joined.h"
#include "core/io/json.h"

namespace plumbline {

/// All values of an enumeration that counts from 0.
template <class Enum>
[[nodiscard]] std::vector<Enum> values_up_to(Enum last) {
  std::vector<Enum> values;
  for (int value = 0; value <= static_cast<int>(last); ++value) values.push_back(static_cast<Enum>(value));
  return values;
}

/// The index in `names` of the word at `place`. Throws InputError with all names and the nearest.
[[nodiscard]] inline std::size_t choice_from_names(const JsonPlace& place, const std::vector<std::string>& names) {
  const std::string& word = place.string();
  const auto found = std::find(names.begin(), names.end(), word);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw InputError({place.where(), "\"" + word.substr(0, 40) + "\" is unknown", "one of " + joined(names),
                    nearest_text(word, names)});
}

/// The value of `all` whose text is at `place`. Throws InputError with all texts and the nearest.
template <class Values>
[[nodiscard]] auto choice_from_json(const JsonPlace& place, const Values& all) {
  if (const auto value = value_named(all, place.string())) return *value;
  std::vector<std::string> names;
  for (const auto& value : all) names.emplace_back(to_text(value));
  return *(std::begin(all) + static_cast<std::ptrdiff_t>(choice_from_names(place, names)));
}

}  // namespace plumbline
