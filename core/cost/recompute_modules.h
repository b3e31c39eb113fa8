#pragma once
/// \file recompute_modules.h: which operators of a layer run again where a framework recomputes chosen modules.
///
/// Answers per operator, and the bytes of one micro-batch that stay. Model: a module's operators run again before the
/// backward that reads what they make; what they read stays, what they make does not (keep_rule.h), copies that
/// products made of it neither. The parts of a layer are told by the names that the builders give them
/// (models/builders); the up-projections of latent attention are what is between its compressed tensors and
/// attention. A norm that Transformer Engine fuses into a dense MLP's first product belongs to the MLP.
/// Source: Megatron-Core, transformer_config.py (recompute_modules), multi_latent_attention.py, moe/experts.py,
/// transformer_layer.py (CheckpointWithoutOutput).
/// Not modelled: what a checkpoint of a whole module keeps of its output; modules inside CUDA graphs.
/// Checked against: tests/unit/core/cost/recompute_modules_test.cpp (a layer of DeepSeek-V3, by hand);
/// tests/reference/recompute_modules_test.cpp (published peaks of Moonlight).

#include <vector>

#include "core/sharding/keep_rule.h"

namespace plumbline {

/// By op in order of execution.
[[nodiscard]] std::vector<bool> replayed_by_modules(const Block& block, const RecomputeModules& modules);
/// What stays of one micro-batch on one rank.
[[nodiscard]] Bytes kept_bytes(const Block& block, const Shard& shard, const Replay& replay);

}  // namespace plumbline
