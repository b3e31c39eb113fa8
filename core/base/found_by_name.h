#pragma once
/// \file found_by_name.h: the element of a list that has a name, or the value of an enumeration.

#include <algorithm>
#include <optional>
#include <string_view>
#include <type_traits>

namespace plumbline {

/// Null where there is none.
template <class T>
auto named(T& all, std::string_view name) -> decltype(all.data()) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return at == all.end() ? nullptr : &*at;
}

/// The value of `all` whose to_text is `text`; nothing if there is none.
template <class Values>
[[nodiscard]] constexpr auto value_named(const Values& all, std::string_view text)
    -> std::optional<std::remove_cvref_t<decltype(*all.begin())>> {
  for (const auto value : all)
    if (to_text(value) == text) return value;
  return std::nullopt;
}

}  // namespace plumbline
