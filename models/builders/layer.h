#pragma once
/// \file layer.h: one transformer layer as a block, and the run-length form of a stack of them.

#include "core/graph/graph.h"
#include "models/description/transformer_description.h"

namespace plumbline {

/// x, the hidden state [batch, sequence, hidden] (or another number of tokens), through one layer of the description.
[[nodiscard]] TensorId transformer_layer(BlockBuilder& block, const LayerDescription& layer,
                                         const LayerVariant& variant, TensorId x);

/// Appends one block per distinct variant and the runs that execute `variants` in order. `tokens`: the dimension
/// between batch and hidden.
void append_layers(std::vector<Block>& blocks, std::vector<BlockRun>& runs, const LayerDescription& layer,
                   const std::vector<LayerVariant>& variants, Dimension tokens, std::int64_t hidden);

}  // namespace plumbline
