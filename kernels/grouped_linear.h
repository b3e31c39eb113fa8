#pragma once
/// \file grouped_linear.h: a linear layer per expert over rows that are sorted by expert.
///
/// Expert e owns counts[e] consecutive rows and the slice [e * out, (e + 1) * out) of the weight's rows. The gradients
/// are apart as those of linear.h. An expert without rows changes nothing (its gradient, if overwritten, becomes zero).
/// Checked against: linear.h on each expert's rows (tests/kernels/linear_test.cpp), exact.

#include "kernels/tensor_view.h"

namespace plumbline {

/// Rows per expert of this rank.
struct ExpertRows {
  std::int64_t experts = 0;
  const std::int64_t* counts = nullptr;
};

/// input [rows, in], weight [experts * out, in], bias [experts, out] or nothing, output [rows, out].
struct GroupedLinearForward {
  ExpertRows groups;
  ConstTensorView input;
  ConstTensorView weight;
  ConstTensorView bias = {};
  TensorView output;
  Workspace workspace = {};
};

struct GroupedLinearInputGradient {
  ExpertRows groups;
  ConstTensorView output_gradient;
  ConstTensorView weight;
  TensorView input_gradient;
  Write write = Write::overwrite;
  Workspace workspace = {};
};

/// weight_gradient [experts * out, in], bias_gradient [experts, out] or nothing.
struct GroupedLinearWeightGradient {
  ExpertRows groups;
  ConstTensorView input;
  ConstTensorView output_gradient;
  TensorView weight_gradient;
  TensorView bias_gradient = {};
  Write write = Write::accumulate;
  Workspace workspace = {};
};

namespace reference {

/// Enough for any distribution of the rows: routing is not known when memory is planned. Counts are not read.
[[nodiscard]] Bytes grouped_linear_workspace(const GroupedLinearForward& args);
[[nodiscard]] Bytes grouped_linear_workspace(const GroupedLinearInputGradient& args);
[[nodiscard]] Bytes grouped_linear_workspace(const GroupedLinearWeightGradient& args);
void grouped_linear_forward(const GroupedLinearForward& args);
void grouped_linear_input_gradient(const GroupedLinearInputGradient& args);
void grouped_linear_weight_gradient(const GroupedLinearWeightGradient& args);

}  // namespace reference
}  // namespace plumbline
