#pragma once
/// \file json_array.h: a list of values as a JSON array.

#include "core/io/json.h"

namespace plumbline {

/// `write`: of one value, something that a Json is made from.
template <class Values, class Write>
[[nodiscard]] Json json_array(const Values& values, const Write& write) {
  Json::Array array;
  for (const auto& value : values) array.emplace_back(write(value));
  return array;
}

template <class Values>
[[nodiscard]] Json json_array(const Values& values) {
  return json_array(values, [](const auto& value) { return value; });
}

}  // namespace plumbline
