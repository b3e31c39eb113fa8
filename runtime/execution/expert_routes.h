#pragma once
/// \file expert_routes.h: which experts a rank's tokens go to, and which rows its own experts get.
///
/// Answers: counts and places of rows; no bytes. Model: a row for each choice of a token, none dropped. Rows leave
/// sorted by expert, so by rank; they arrive from one rank after another and are sorted by expert again. Routes and
/// counts of arrivals are the host's, as split sizes are in Megatron-LM; a replay of the dispatch makes them again.
/// Source: MegaBlocks, arXiv:2211.15841, section 4. Not modelled: capacities. Checked
/// against: tests/runtime/execution/expert_routes_test.cpp; one rank's numbers (strategies_test.cpp).

#include <cstdint>
#include <vector>

#include "runtime/device/device_kernels.h"

namespace plumbline {

/// Of a rank's own tokens, in the order of kernels/expert_routing.h.
struct ExpertRoutes {
  std::int64_t chosen = 1;
  std::vector<std::int32_t> experts;  ///< by token and choice
  std::vector<float> weights;         ///< likewise
  std::vector<std::int64_t> counts;   ///< by expert of the network
  std::vector<std::int64_t> slots;    ///< the row of each choice
  std::vector<std::int64_t> sources;  ///< the choice of each row

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(experts.size()); }
  /// Rows for the experts of each of so many ranks.
  [[nodiscard]] std::vector<std::int64_t> by_rank(std::int64_t ranks) const;
};

/// `experts`: of each token, `chosen` ones; empty: those of the largest probabilities. `probabilities` [tokens,
/// experts].
[[nodiscard]] ExpertRoutes expert_routes(const DeviceKernels& kernels, const ConstTensorView& probabilities,
                                         std::int64_t chosen, RouterWeights kind,
                                         std::vector<std::int32_t> experts = {});

/// Of a rank's own experts, for one execution and micro-batch.
struct ExpertArrivals {
  std::int64_t experts = 0;
  std::int64_t chosen = 0;           ///< rows that the rank's own tokens make, wherever they go
  std::vector<std::int64_t> counts;  ///< by rank that they came from, and expert

  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::vector<std::int64_t> by_rank() const;
  [[nodiscard]] std::vector<std::int64_t> by_expert() const;
  /// The arrival that each row is, once they are sorted by expert.
  [[nodiscard]] std::vector<std::int64_t> sorted() const;
  /// The sorted row that each arrival is.
  [[nodiscard]] std::vector<std::int64_t> unsorted() const;
};

}  // namespace plumbline
