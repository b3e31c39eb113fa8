#pragma once
/// \file other_importers.h: architectures that are no plain stack of token layers.

#include <string>

#include "core/graph/graph.h"
#include "core/graph/operator_constants.h"
#include "models/import/config_reader.h"

namespace plumbline {

/// What an importer makes of a config.
struct ImportedGraph {
  Graph graph;
  std::int64_t default_sequence_length = 0;
  std::string note;
  OperatorConstants constants = {};
};

[[nodiscard]] ImportedGraph import_t5(ConfigReader& config, const std::string& name);
[[nodiscard]] ImportedGraph import_vit(ConfigReader& config, const std::string& name);
[[nodiscard]] ImportedGraph import_resnet(ConfigReader& config, const std::string& name);

}  // namespace plumbline
