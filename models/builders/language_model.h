#pragma once
/// \file language_model.h: token networks (decoders, and encoders such as BERT) as graphs.

#include <string>

#include "core/graph/graph.h"
#include "models/description/transformer_description.h"

namespace plumbline {

/// Blocks: input (embeddings), the layers, output (final norm, head, loss). The state between blocks is
/// [batch, sequence, hidden]; token ids and labels are constants of the first and last block.
[[nodiscard]] Graph language_model(std::string name, const TransformerDescription& description);

}  // namespace plumbline
