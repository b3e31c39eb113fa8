#pragma once
/// \file executed_ops.h: the operators that `plan run` has kernels for. The table that runs them
/// (runtime/execution/kernel_call.cpp) is held against this list when it is compiled.

#include <algorithm>
#include <array>

#include "core/graph/op.h"

namespace plumbline {

inline constexpr std::array executed_ops = std::to_array<OpKind>(
    {OpKind::embedding, OpKind::position_embedding, OpKind::linear, OpKind::grouped_linear, OpKind::router,
     OpKind::dispatch, OpKind::combine, OpKind::layer_norm, OpKind::rms_norm, OpKind::attention, OpKind::activation,
     OpKind::gated_activation, OpKind::rotary, OpKind::dropout, OpKind::add, OpKind::cross_entropy});

[[nodiscard]] constexpr bool is_executed(OpKind kind) {
  return std::find(executed_ops.begin(), executed_ops.end(), kind) != executed_ops.end();
}

}  // namespace plumbline
