#pragma once
/// \file yaml_words.h: what a plain word of YAML stands for.
///
/// Source: YAML 1.1 types (yaml.org/type) as PyYAML's resolver.py has them, and YAML 1.2's numbers.

#include <string_view>

#include "core/io/json.h"

namespace plumbline {

/// A boolean, a number, null, or the word itself.
[[nodiscard]] Json plain_yaml_value(std::string_view word);
/// Whether a string can be written without quotes and is read back as that string.
[[nodiscard]] bool is_plain_yaml(std::string_view text);

}  // namespace plumbline
