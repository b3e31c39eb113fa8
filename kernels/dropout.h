#pragma once
/// \file dropout.h: zeros with a probability, the rest scaled by 1 / (1 - probability).
///
/// Which elements are zeroed follows from (seed, op, micro-batch, the element's index in the whole tensor), so that
/// recomputation and every layout draw the same (see philox.h). Backward draws again, or reads the mask if it was kept.
/// Source: Srivastava et al., JMLR 15 (2014), in its inverted form.
/// Checked against: tests/kernels/dropout_test.cpp (slices equal the whole; rate within 4 standard deviations).

#include "kernels/philox.h"
#include "kernels/tensor_view.h"

namespace plumbline {

/// Probability in [0, 1), and what is drawn.
struct DropoutDraw {
  float probability = 0;
  DropoutKey key;
};

/// Where a view is in the whole tensor: its rows' place, its first column, and the whole tensor's columns.
struct DropoutPlace {
  RowPlace rows;
  std::int64_t first_column = 0;
  std::int64_t whole_columns = 0;
};

/// input, output [rows, columns]; output may be input. mask [rows * columns] or null: forward writes 1 where an element
/// was kept; backward (gradients as input and output) reads it instead of drawing again.
struct ElementDropout {
  ConstTensorView input;
  TensorView output;
  std::uint8_t* mask = nullptr;
  DropoutDraw draw;
  DropoutPlace place;
};

namespace reference {

void dropout_forward(const ElementDropout& args);
void dropout_backward(const ElementDropout& args);

/// factors[i] = 1 / (1 - probability), or 0 where element first_element + i is dropped; any count.
void dropout_factors(const DropoutDraw& draw, std::int64_t first_element, std::int64_t count, float* factors);

}  // namespace reference
}  // namespace plumbline
