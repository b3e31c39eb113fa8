#pragma once
/// \file import_files.h: launch files that flags name, read.

#include <optional>
#include <string>
#include <vector>

#include "planner/session/import/import.h"

namespace plumbline {

/// "-" is standard input. Throws InputError: no target, a file that cannot be read or is over 1 MiB.
[[nodiscard]] session::ImportRequest import_request(const std::vector<std::string>& files,
                                                    const std::optional<std::string>& target);

}  // namespace plumbline
