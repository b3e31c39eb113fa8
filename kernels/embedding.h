#pragma once
/// \file embedding.h: rows of a table by token id, and learned positions.
///
/// Vocabulary-parallel ranks hold rows [first_token, first_token + table.rows) of the table; tokens of others give zero
/// rows, so that the sum over ranks is the whole embedding. Learned positions are the same operation with positions for
/// token ids, added to what is there.
/// Checked against: PyTorch (tests/kernels/embedding_test.cpp), exact.

#include "kernels/tensor_view.h"

namespace plumbline {

/// tokens [rows], table [vocabulary slice, columns], output [rows, columns].
struct EmbeddingForward {
  const std::int32_t* tokens = nullptr;
  ConstTensorView table;
  TensorView output;
  std::int64_t first_token = 0;
};

/// table_gradient [vocabulary slice, columns] += rows of output_gradient, in the order of the rows: an fp32 sum for
/// each token, which a 16-bit buffer rounds once.
struct EmbeddingBackward {
  const std::int32_t* tokens = nullptr;
  ConstTensorView output_gradient;
  TensorView table_gradient;
  std::int64_t first_token = 0;
};

/// output [rows, columns] = input + table[place.position(row)]; output may be input.
struct PositionEmbeddingForward {
  ConstTensorView input;
  ConstTensorView table;
  TensorView output;
  RowPlace place;
};

/// table_gradient[place.position(row)] += output_gradient[row]; the input's gradient is the output's.
struct PositionEmbeddingBackward {
  ConstTensorView output_gradient;
  TensorView table_gradient;
  RowPlace place;
};

namespace reference {

void embedding_forward(const EmbeddingForward& args);
void embedding_backward(const EmbeddingBackward& args);
void position_embedding_forward(const PositionEmbeddingForward& args);
void position_embedding_backward(const PositionEmbeddingBackward& args);

}  // namespace reference
}  // namespace plumbline
