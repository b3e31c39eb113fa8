#pragma once
/// \file adaptation.h: turns a graph into the one that is trained: frozen parameters and LoRA adapters written in.
///
/// Frozen layers become blocks of their own whose parameters are not trainable, so gradients, optimizer state and
/// weight-gradient products vanish by the ordinary rules; blocks before the first trained one need no backward at all.
/// Source: Hu et al., arXiv:2106.09685 (LoRA).

#include "core/graph/graph.h"
#include "core/training/training.h"

namespace plumbline {

/// Throws InputError when a layer range lies outside the network.
[[nodiscard]] Graph adapted(const Graph& graph, const Adaptation& adaptation);

}  // namespace plumbline
