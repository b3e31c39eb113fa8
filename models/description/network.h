#pragma once
/// \file network.h: a network as people name it: its graph, where its facts come from, and what was published about it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/operator_constants.h"

namespace plumbline {

struct Network {
  std::string name;
  std::vector<std::string> aliases;
  std::string model_type;  ///< as the Hugging Face config spells it
  std::string source;
  std::optional<std::int64_t> published_parameters;
  std::string published_source;
  std::int64_t default_sequence_length = 0;  ///< the longest that the config states; 1 for images without tokens
  std::string note;                          ///< what the graph leaves out or counts differently; empty: nothing
  Graph graph;
  OperatorConstants constants = {};
};

}  // namespace plumbline
