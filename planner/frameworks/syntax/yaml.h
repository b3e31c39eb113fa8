#pragma once
/// \file yaml.h: YAML files as a tree of values.

#include <string>
#include <string_view>

#include "core/io/json.h"

namespace plumbline {

/// The first document. Aliases are refused (a few lines of them expand to gigabytes), as are tags other than the
/// core schema's. Throws InputError (`name`, line) for wrong syntax and for more than json.h allows.
[[nodiscard]] Json read_yaml(std::string_view text, std::string_view name);
[[nodiscard]] std::string yaml_text(const Json& tree);

}  // namespace plumbline
