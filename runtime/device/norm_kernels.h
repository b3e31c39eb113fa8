#pragma once
/// \file norm_kernels.h: norms of tokens that are executed: their kernels, called with what all of them have.
///
/// Who runs or times a norm names no kind. `bias`, and the second of the gradients, are read where the norm has a bias.
/// Statistics are fp32, rows of each, one behind the other: kernels/layer_norm.h, kernels/rms_norm.h.
/// Checked against: tests/runtime/device/norm_kernels_test.cpp.

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "core/graph/op_kind.h"
#include "runtime/device/device_kernels.h"

namespace plumbline {

/// In the order in which they are timed.
inline constexpr std::array executed_norms{OpKind::rms_norm, OpKind::layer_norm};
static_assert(std::all_of(op_records.begin(), op_records.end(),
                          [](const OpRecord& record) {
                            const bool is_here = std::find(executed_norms.begin(), executed_norms.end(), record.kind) !=
                                                 executed_norms.end();
                            return is_here == (is_token_norm(record.kind) && record.is_executed);
                          }),
              "the norms of tokens that are said to be executed are those with kernels");

struct NormForward {
  ConstTensorView input;
  ConstTensorView weight;
  ConstTensorView bias;
  TensorView output;
  float* statistics = nullptr;
  float epsilon = 1e-5F;
};

struct NormBackward {
  ConstTensorView output_gradient;
  ConstTensorView input;
  ConstTensorView weight;
  const float* statistics = nullptr;
  TensorView input_gradient = {};                      ///< or nothing
  std::array<TensorView, 2> parameter_gradients = {};  ///< of weight and bias, or nothing
  Write write = Write::accumulate;                     ///< of parameter_gradients
};

inline void norm_forward(const DeviceKernels& kernels, OpKind kind, const NormForward& n) {
  switch (kind) {
    case OpKind::rms_norm: return kernels.rms_norm_forward({n.input, n.weight, n.output, n.statistics, n.epsilon});
    case OpKind::layer_norm:
      return kernels.layer_norm_forward(
          {n.input, n.weight, n.bias, n.output, n.statistics, n.statistics + n.input.rows, n.epsilon});
    default: check(false, "a norm that is executed has a forward kernel");
  }
}

/// Answers `act(kernel, arguments)`: a ScratchKernel, and what it takes but for its scratch memory.
template <class Act>
auto norm_backward(const DeviceKernels& kernels, OpKind kind, const NormBackward& n, Act act) {
  const auto& [of_weight, of_bias] = n.parameter_gradients;
  if (kind == OpKind::rms_norm)
    return act(kernels.rms_norm_backward, RmsNormBackward{n.output_gradient, n.input, n.weight, n.statistics,
                                                          n.input_gradient, of_weight, n.write});
  check(kind == OpKind::layer_norm, "a norm that is executed has a backward kernel");
  return act(kernels.layer_norm_backward,
             LayerNormBackward{n.output_gradient, n.input, n.weight, n.statistics, n.statistics + n.input.rows,
                               n.input_gradient, of_weight, of_bias, n.write});
}

}  // namespace plumbline
