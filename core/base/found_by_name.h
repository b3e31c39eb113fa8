#pragma once
/// \file found_by_name.h: the element of a list that has a name.

#include <algorithm>
#include <string_view>

namespace plumbline {

/// Null where there is none.
template <class T>
auto named(T& all, std::string_view name) -> decltype(all.data()) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace plumbline
