#pragma once
/// \file network_config.h: the Hugging Face config that a network was read from, for those who write it alongside
/// weights.

#include <string>
#include <string_view>

#include "models/description/network.h"

namespace plumbline {

/// The config of the language model as JSON text, with its model_type; empty when it is no longer found where `network`
/// was, under this name or path, or is another now.
[[nodiscard]] std::string network_config(const Network& network, std::string_view name_or_path);

}  // namespace plumbline
