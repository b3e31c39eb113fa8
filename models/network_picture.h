#pragma once
/// \file network_picture.h: a graph as a picture: text in Graphviz's dot language.
///
/// One frame per block with how often it is executed, one node per operator with its parameters, one arrow per tensor
/// with its shape (b: batch, s: sequence). Dashed arrows lead from a block to the next one.

#include <string>

#include "core/graph/graph.h"

namespace plumbline {

/// Deterministic; the text ends with a newline. `dot -Tsvg` draws it.
[[nodiscard]] std::string graphviz(const Graph& graph);

}  // namespace plumbline
