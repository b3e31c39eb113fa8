#pragma once
/// \file json_file.h: text and JSON of files, read with the limits of json.h.

#include <filesystem>
#include <string>
#include <string_view>

#include "core/io/json.h"

namespace plumbline {

/// A whole file, its size checked before its content is read. `expected` says in messages what it should be ("a
/// readable JSON file"). Throws InputError (missing file, over 64 MiB) or EnvironmentError (the disk).
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path, std::string_view expected);
/// Reads a file with the same limits. Throws also InputError for wrong content.
[[nodiscard]] Json read_json_file(const std::filesystem::path& path);

}  // namespace plumbline
