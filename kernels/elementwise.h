#pragma once
/// \file elementwise.h: sums (residuals), scaling, copies between formats, transposition.
///
/// Each output element is computed in fp32 and rounded once. Views of fp8 carry their scale (see quantize.h).
/// Checked against: tests/kernels/elementwise_test.cpp, exact.

#include "kernels/tensor_view.h"

namespace plumbline {

/// output = a + b, all [rows, columns]; output may be a or b. The gradient of each operand is the output's.
struct Add {
  ConstTensorView a;
  ConstTensorView b;
  TensorView output;
};

/// output = input * factor; output may be input.
struct Scale {
  ConstTensorView input;
  TensorView output;
  float factor = 1.0F;
};

/// output = input in the output's format; both [rows, columns].
struct Cast {
  ConstTensorView input;
  TensorView output;
};

/// output [columns, rows] = input [rows, columns]^T in the output's format. Nothing aliases.
struct TransposeCopy {
  ConstTensorView input;
  TensorView output;
};

/// All of a view's elements become `value`.
struct Fill {
  TensorView output;
  float value = 0.0F;
};

namespace reference {

void add(const Add& args);
void scale(const Scale& args);
void cast(const Cast& args);
void transpose(const TransposeCopy& args);
void fill(const Fill& args);

}  // namespace reference
}  // namespace plumbline
