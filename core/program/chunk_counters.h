#pragma once
/// \file chunk_counters.h: appends actions in the order of the micro-batches, counting per chunk and kind.
///
/// Answers: the next micro-batch of a kind on a chunk. Model: identical micro-batches keep their order.
/// Source: the exchange argument of reference orders (arXiv:2401.10241). Not modelled: times.
/// Checked against: tests/reference/pipeline_orders_test.cpp, through the orders that use it.

#include <array>

#include "core/program/action.h"

namespace plumbline {

/// For ranks of two chunks.
class ChunkCounters {
 public:
  std::int32_t forward(std::int32_t chunk) { return add(ActionKind::forward, chunk, forward_); }
  /// A full backward counts as both of its halves.
  std::int32_t backward(std::int32_t chunk) {
    ++weight_[static_cast<std::size_t>(chunk)];
    return add(ActionKind::backward, chunk, input_);
  }
  std::int32_t backward_input(std::int32_t chunk) { return add(ActionKind::backward_input, chunk, input_); }
  std::int32_t backward_weight(std::int32_t chunk) { return add(ActionKind::backward_weight, chunk, weight_); }

  [[nodiscard]] std::int32_t forwards(std::size_t chunk) const { return forward_[chunk]; }
  [[nodiscard]] std::int32_t input_gradients(std::size_t chunk) const { return input_[chunk]; }
  [[nodiscard]] std::int32_t weight_gradients(std::size_t chunk) const { return weight_[chunk]; }
  [[nodiscard]] RankOrder& order() { return order_; }

 private:
  using Counts = std::array<std::int32_t, 2>;
  std::int32_t add(ActionKind kind, std::int32_t chunk, Counts& counts) {
    const std::int32_t micro_batch = counts[static_cast<std::size_t>(chunk)]++;
    order_.push_back({kind, chunk, micro_batch});
    return micro_batch;
  }
  Counts forward_{};
  Counts input_{};
  Counts weight_{};
  RankOrder order_;
};

}  // namespace plumbline
