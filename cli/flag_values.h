#pragma once
/// \file flag_values.h: the text of a flag as a number or a choice, refused in one line that names the flag.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/errors.h"

namespace CLI {
class App;
}

namespace plumbline {

/// Throws InputError for a flag that was given and is none of `read`: alongside `mode` it would be ignored in silence.
void require_only(const CLI::App& app, std::string_view mode, const std::vector<std::string>& read);

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
