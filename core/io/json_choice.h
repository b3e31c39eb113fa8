#pragma once
/// \file json_choice.h: a word of a file that names one of the values of an enumeration.

#include <iterator>
#include <type_traits>

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

/// The value of `all` whose text is at `place`. Throws InputError with all texts and the nearest.
template <class Values>
[[nodiscard]] auto choice_from_json(const JsonPlace& place, const Values& all) {
  const std::string& word = place.string();
  if (const auto value = value_named(all, word)) return *value;
  std::vector<std::string> names;
  for (const auto& value : all) names.emplace_back(to_text(value));
  throw InputError({place.where(), "\"" + word.substr(0, 40) + "\" is unknown", "one of " + joined(names),
                    nearest_text(word, names)});
}

}  // namespace plumbline
