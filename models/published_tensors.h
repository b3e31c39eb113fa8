#pragma once
/// \file published_tensors.h: the tensors in which a network's weights are published, and where each parameter of its
/// graph lies in them.
///
/// Answers: names and shapes of the files that Hugging Face's classes load, for the architectures that are executed.
/// Model: a published tensor is one parameter, or several that its class keeps together: stacked by rows (GPT-2,
/// Phi-3), or by groups of heads, each its queries, key and value (GPT-NeoX); GPT-2's Conv1D keeps a matrix transposed;
/// of experts every one is a tensor. Adapters are named as PEFT names them where their linear is a tensor by itself. A
/// network with a parameter that no rule knows keeps the graph's names for all.
/// Source: huggingface/transformers, modeling_<type>.py and the published checkpoints' indices; PEFT 0.12,
/// utils/save_and_load.py. Not modelled: tokenizers; adapters of linears that are published together.
/// Checked against: tests/unit/models/published_tensors_test.cpp; in development transformers 4.44 and PEFT 0.12
/// (logits of what they load; docs/reliability.md).

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

/// A parameter of the whole network.
struct WholeParameter {
  std::string name;                            ///< "layers.3.attention.qkv.q.weight", "input.embedding.weight"
  std::array<std::int64_t, 3> shape{1, 1, 1};  ///< leading dimensions 1
  std::int32_t dimensions = 1;
  std::int64_t heads = 0;  ///< that its rows belong to; 0: none
};

/// A parameter in a tensor, both row-major. A vector counts as a matrix of one column. Row r of the parameter begins at
/// element first + (r / rows_together) * group_stride + (r % rows_together) * row_stride.
struct TensorPart {
  std::string parameter;
  std::int64_t expert = -1;  ///< the only one of the leading dimension that is here; -1: all
  std::int64_t first = 0;
  std::int64_t rows_together = 1;
  std::int64_t group_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;

  [[nodiscard]] std::int64_t row_begin(std::int64_t row) const {
    return first + row / rows_together * group_stride + row % rows_together * row_stride;
  }
};

struct PublishedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<TensorPart> parts;
  bool is_adapter = false;
};

struct PublishedNetwork {
  bool has_published_names = false;  ///< else those of the graph
  bool has_adapter_names = false;    ///< there are adapters, under PEFT's names
  std::vector<PublishedTensor> tensors;
};

/// `model_type`: as the config spells it.
[[nodiscard]] PublishedNetwork published_network(std::string_view model_type,
                                                 const std::vector<WholeParameter>& parameters);

}  // namespace plumbline
