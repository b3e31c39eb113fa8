#pragma once
/// \file network_config.h: the Hugging Face config that a network was read from, for those who write it alongside
/// weights or start a network of their own from it.

#include <optional>
#include <string>
#include <string_view>

#include "core/io/json.h"
#include "models/description/network.h"

namespace plumbline {

/// The config of the language model as JSON text, with its model_type; empty when it is no longer found where `network`
/// was, under this name or path, or is another now.
[[nodiscard]] std::string network_config(const Network& network, std::string_view name_or_path);

/// A network file (plumbline.network/1) of a network whose config this is.
[[nodiscard]] Json network_file_json(const Network& network, Json config);
/// The text of a network file: of what find_network finds, or find_network_as where a type is given. Throws as they do.
[[nodiscard]] std::string network_file_text(std::string_view name_or_path,
                                            const std::optional<std::string>& model_type);
/// The language part of a Hugging Face config, or of a network file, as the config of another `model_type`.
[[nodiscard]] Json config_as(const Json& document, std::string_view model_type);

}  // namespace plumbline
