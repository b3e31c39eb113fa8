#pragma once
/// \file tensor_parallel_points.h: where a block's tensor-parallel regions begin and end, and so what it communicates.
///
/// Model: a tensor that column linears read is entered (forward: all-gather with sequence parallelism, else nothing;
/// backward: reduce-scatter, and re-gather for the gradients of trained weights, else all-reduce); a row linear's or
/// divided embedding's output is left (forward: reduce-scatter, else all-reduce; backward: all-gather, else nothing).
/// One collective per tensor, however many operators read it.
/// Source: Megatron-LM, arXiv:1909.08053 section 3; sequence parallelism, arXiv:2205.05198 section 4.2.2; its
/// tensor_parallel/layers.py, whose backward gathers the input where the weight requires a gradient.

#include <functional>
#include <vector>

#include "core/sharding/shard.h"

namespace plumbline {

enum class PointKind : std::uint8_t { enter, leave, loss };

struct TensorParallelPoint {
  PointKind kind = PointKind::enter;
  Bytes bytes{0};              ///< the whole tensor, all tokens of the context-parallel slice, padded to equal parts
  bool needs_gradient = true;  ///< of the tensor
  bool trains = false;         ///< whether a linear that enters makes a weight gradient of it
  OpId op;                     ///< the first that enters, or the one that leaves
};

/// `runs`: which operators are executed, as if there were no others; empty: all of them.
[[nodiscard]] std::vector<TensorParallelPoint> tensor_parallel_points(const Block& block, const Shard& shard,
                                                                      const std::function<bool(OpId)>& runs = {});

}  // namespace plumbline
