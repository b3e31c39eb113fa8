#pragma once
/// \file saved_tensors.h: what the forward pass of a block keeps for its backward pass, tensor by tensor.
///
/// Answers bytes per micro-batch and rank. Model: each operator keeps what its gradient formula reads; a tensor that
/// two operators keep is held once. Attention without FlashAttention keeps probabilities, dropout mask and dropped
/// probabilities; with it only its output and one fp32 log-sum-exp per query and head. Where context-parallel ranks
/// exchange heads (Ulysses), it keeps what it read and made between the exchanges. What experts made is kept once it
/// has returned to its tokens. What ranks gathered for a product may be kept instead of their part of it (kept_forms.h:
/// GatheredInputs). Source: Korthikanti et al., arXiv:2205.05198, section 4 (sbh(34 + 5as/h) and its variants); Dao,
/// arXiv:2307.08691. Not modelled: tensors that a framework keeps although no gradient needs them; gathered fp8 copies,
/// which count in the format of activations. Checked against: tests/reference/activation_bytes_test.cpp, exact.

#include <string>
#include <vector>

#include "core/sharding/shard.h"

namespace plumbline {

enum class SavedKind : std::uint8_t {
  tensor,          ///< an input or output of an operator
  mask,            ///< one byte per element (dropout)
  statistics,      ///< fp32 mean and deviation of norms, log-sum-exp of attention
  attention_core,  ///< what selective recompute drops
  input_copy,      ///< of a product's input, in the product's format
  gathered,        ///< `tensor` with the rows of all tensor-parallel ranks, beside or instead of this rank's
};

struct SavedTensor {
  std::string name;
  SavedKind kind = SavedKind::tensor;
  Bytes bytes{0};
  /// The tensor that is kept, when it is one of the block's.
  TensorId tensor;
  /// Otherwise the op that makes it on the side (statistics, masks, probabilities), so that a replay knows whom to run.
  OpId op;
};

/// Every tensor that a block keeps when nothing is recomputed. Labels and ids are not counted.
[[nodiscard]] std::vector<SavedTensor> saved_tensors(const Block& block, const Shard& shard);

/// Bytes kept per recompute mode. `every_nth` is a property of layers, not of a block: use none or full.
[[nodiscard]] Bytes saved_bytes(const std::vector<SavedTensor>& saved, RecomputeMode mode, Bytes block_input);
/// Bytes of the tensors that cross into the block (what full recompute keeps).
[[nodiscard]] Bytes boundary_bytes(const Block& block, const Shard& shard);

}  // namespace plumbline
