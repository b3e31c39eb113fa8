#pragma once
/// \file random_machine.h: machines of a campaign: the catalogue's at many sizes, the same with other numbers, and
/// mixed ones.

#include <optional>
#include <string>

#include "core/io/json.h"
#include "core/machine/cluster.h"
#include "tests/campaign/draw.h"

namespace plumbline {

struct DrawnMachine {
  Cluster cluster;
  std::string name;          ///< that `plan` knows; empty where it was made up
  std::optional<Json> file;  ///< of one that was made up
};

/// Draws a machine of at most `most_devices` devices.
[[nodiscard]] DrawnMachine random_machine(Draw& draw, std::int64_t most_devices);

}  // namespace plumbline
