#pragma once
/// \file toml.h: TOML files as a tree of values.

#include <string>
#include <string_view>

#include "core/io/json.h"

namespace plumbline {

/// Dates become strings. Throws InputError (`name`, line) for wrong syntax and for more than json.h allows.
[[nodiscard]] Json read_toml(std::string_view text, std::string_view name);
[[nodiscard]] std::string toml_text(const Json& tree);

}  // namespace plumbline
