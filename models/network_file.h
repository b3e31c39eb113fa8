#pragma once
/// \file network_file.h: reads files that describe a network: our format, read strictly, or a Hugging Face config.

#include "core/io/json.h"
#include "models/description/network.h"

namespace plumbline {

/// Our format when the object has a "format" key, else a Hugging Face config that is called `name`.
/// Throws InputError.
[[nodiscard]] Network read_network(const JsonPlace& document, std::string name);
/// What is in a plumbline.network/1 file alongside the config.
struct NetworkHeader {
  std::string name;
  std::vector<std::string> aliases;
};
[[nodiscard]] NetworkHeader read_network_header(const JsonPlace& document);

}  // namespace plumbline
