#pragma once
/// \file value_text.h: the text of a value as a number or a choice, refused in one line that names where it stood.
///
/// `flag`: as a command line spells it; a window asks with the same, so that both say the same.
/// Checked against: tests/unit/core/io/value_text_test.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/errors.h"

namespace plumbline {

/// Tokens of a sequence: K and M are powers of two here, as people mean them: 8K is 8192. Throws InputError.
[[nodiscard]] std::int64_t sequence_length(std::string_view flag, const std::string& text, std::int64_t largest);
/// A whole number, with an optional K, M, B, T from 1 on. Throws InputError.
[[nodiscard]] std::int64_t whole_number(std::string_view flag, const std::string& text, std::int64_t smallest,
                                        std::int64_t largest);
/// A number in a range. Throws InputError.
[[nodiscard]] double real_number(std::string_view flag, const std::string& text, double smallest, double largest);
/// "on", "off", or nothing at all for on.
[[nodiscard]] bool on_or_off(std::string_view flag, const std::string& text);
/// The parts of "a,b,c". Throws InputError for an empty one.
[[nodiscard]] std::vector<std::string> list_of(std::string_view flag, const std::string& text);
[[noreturn]] void refuse_choice(std::string_view flag, const std::string& text, const std::vector<std::string>& names);

/// "a|b|c": the names of all values of a choice, as help shows them.
template <class Values>
[[nodiscard]] std::vector<std::string> names_of(const Values& all) {
  std::vector<std::string> names;
  for (const auto& value : all) names.emplace_back(to_text(value));
  return names;
}
[[nodiscard]] std::string alternatives(const std::vector<std::string>& names);

template <class Values, class FromText>
[[nodiscard]] auto choice_of(std::string_view flag, const std::string& text, const Values& all,
                             const FromText& from_text) {
  const auto value = from_text(text);
  if (!value) refuse_choice(flag, text, names_of(all));
  return *value;
}

}  // namespace plumbline
