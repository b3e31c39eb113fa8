#pragma once
/// \file saved_cut.h: the fewest bytes to keep for a backward pass when recomputing costs nothing.
///
/// Answers which values to keep. Model: every value that the backward pass needs must be reachable from kept values by
/// replay; sources (inputs, and ops that may not be replayed) cannot be replayed themselves. A minimum cut: keeping a
/// value cuts its arc. A lower bound on kept bytes for any recompute choice with these sources.
/// Source: the min-cut partitioner of PyTorch's functorch (Horace He).
/// Not modelled: the time of replay (block_frontier.h).
/// Checked against: tests/reference/oracles/recompute_oracles_test.cpp (mincut-*), exact.

#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

struct CutValue {
  Bytes size{0};
  std::vector<std::int32_t> inputs;
  bool source = false;
  bool needed = false;
};
/// The kept values, in order.
[[nodiscard]] std::vector<std::int32_t> least_kept_values(const std::vector<CutValue>& values);

}  // namespace plumbline
