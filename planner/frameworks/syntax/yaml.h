#pragma once
/// \file yaml.h: YAML files as a tree of values.
///
/// Plain words are what PyYAML, which training frameworks read these files with, makes of them (YAML 1.1): yes, no, on
/// and off are booleans; 1e-5 is a number here, though PyYAML takes it for a word. Dates stay strings. Keys are
/// strings. Not read: sets, ordered maps, binary values. Checked against:
/// tests/unit/planner/frameworks/syntax/yaml_test.cpp, tests/fuzz/yaml_fuzz.cpp.

#include <string>
#include <string_view>

#include "core/io/json.h"

namespace plumbline {

/// The first document. Aliases are refused (a few lines of them expand to gigabytes), as are tags other than those of
/// booleans, numbers and strings, keys that appear twice or are no words, texts over 1 MiB and nesting over 64 levels.
/// Throws InputError (`name`, line) for these and for wrong syntax.
[[nodiscard]] Json read_yaml(std::string_view text, std::string_view name);
/// Block style; strings are quoted where they would be read as something else, by PyYAML too.
[[nodiscard]] std::string yaml_text(const Json& tree);

}  // namespace plumbline
