#pragma once
/// \file unfused_attention.h: attention as two products around a softmax whose probabilities are kept.
///
/// What a framework without a fused kernel does: probabilities are rounded to their format before they meet the values,
/// and kept for backward; with dropout a mask and the dropped probabilities are kept too.
/// Not modelled: slices of longer sequences on the key side (all keys of a query are here).
/// Checked against: PyTorch and the fused form (tests/kernels/attention_test.cpp), within 1e-5 in fp32.

#include "kernels/attention.h"

namespace plumbline {

/// Tensors as AttentionForward. probabilities [batch * heads * queries, keys] (written). With dropout: mask, one byte
/// per probability, and dropped_probabilities, of the probabilities' shape (both written).
struct UnfusedAttentionForward {
  AttentionShape shape;
  ConstTensorView query;
  ConstTensorView key;
  ConstTensorView value;
  TensorView output;
  TensorView probabilities;
  TensorView dropped_probabilities = {};
  std::uint8_t* mask = nullptr;
  AttentionDropout dropout = {};
  Workspace workspace = {};
};

/// The gradients are overwritten. Nothing aliases.
struct UnfusedAttentionBackward {
  AttentionShape shape;
  ConstTensorView output_gradient;
  ConstTensorView query;
  ConstTensorView key;
  ConstTensorView value;
  ConstTensorView probabilities;
  ConstTensorView dropped_probabilities = {};
  const std::uint8_t* mask = nullptr;
  TensorView query_gradient;
  TensorView key_gradient;
  TensorView value_gradient;
  float dropout_probability = 0;
  Workspace workspace = {};
};

namespace reference {

[[nodiscard]] Bytes unfused_attention_workspace(const UnfusedAttentionForward& args);
[[nodiscard]] Bytes unfused_attention_workspace(const UnfusedAttentionBackward& args);
void unfused_attention_forward(const UnfusedAttentionForward& args);
void unfused_attention_backward(const UnfusedAttentionBackward& args);

}  // namespace reference
}  // namespace plumbline
