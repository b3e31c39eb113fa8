#pragma once
/// \file flag_values.h: which flags may be given together; the values of flags are read by value_text.h.

#include <string>
#include <string_view>
#include <vector>

#include "core/io/value_text.h"

namespace CLI {
class App;
}

namespace plumbline {

/// Throws InputError for a flag that was given and is none of `read`: alongside `mode` it would be ignored in silence.
void require_only(const CLI::App& app, std::string_view mode, const std::vector<std::string>& read);

}  // namespace plumbline
