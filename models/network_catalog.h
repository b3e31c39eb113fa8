#pragma once
/// \file network_catalog.h: the networks that this program knows by name, and the files that it reads in their place.
///
/// A name is a catalogue name or one of its aliases, in any case, with or without a hub organisation, '-', '_' and ' '
/// being optional: "llama3-70b" and "meta-llama/Meta-Llama-3-70B" both name llama-3-70b. Only what is asked for is
/// parsed.

#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"
#include "models/description/network.h"

namespace plumbline {

/// Sorted.
[[nodiscard]] std::vector<std::string> network_names();
/// A catalogue name or alias, else the path of a Hugging Face config.json, of a plumbline.network/1 file, or of a
/// folder that holds a config.json; name_or_path.h says which of both a text is.
/// Throws InputError with the nearest names, or for what is wrong in the file; EnvironmentError when it is unreadable.
[[nodiscard]] Network find_network(std::string_view name_or_path);
/// The file at a path, as `find_network` reads it, whatever model_type it states.
struct NetworkReadAs {
  Network network;
  Json config;  ///< with the type that it was read as
};
/// Throws InputError for a name of the catalogue and a type that is not understood, and as `find_network` does.
[[nodiscard]] NetworkReadAs find_network_as(std::string_view path, std::string_view model_type);
/// What to say about a text that could be read both ways (NameOrPath::warning); or empty.
[[nodiscard]] std::string network_name_warning(std::string_view name_or_path);
/// The aliases of the catalogue with the names that they stand for, sorted.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> network_aliases();

}  // namespace plumbline
