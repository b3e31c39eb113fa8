#pragma once
/// \file random_network.h: networks of a campaign: the catalogue's, and small ones of odd widths in every family that
/// has an importer of its own.

#include <memory>
#include <optional>

#include "core/io/json.h"
#include "models/description/network.h"
#include "tests/campaign/draw.h"

namespace plumbline {

struct DrawnNetwork {
  std::shared_ptr<const Network> network;
  std::string name;            ///< that `plan` knows; empty where it was made up
  std::optional<Json> config;  ///< of one that was made up
};

/// The catalogue twice as often as others.
[[nodiscard]] DrawnNetwork random_network(Draw& draw);
/// A Hugging Face config of a family, mostly one that its importer takes.
[[nodiscard]] Json::Object random_config(Draw& draw);

}  // namespace plumbline
