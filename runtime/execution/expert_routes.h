#pragma once
/// \file expert_routes.h: which experts a rank's tokens go to, and which rows its own experts get.
///
/// Answers: choices, weights, places and counts in the device's memory; on the host, how many rows ranks exchange.
/// Model: a row for each choice of a token, none dropped. Rows leave sorted by expert, so by expert-parallel rank; they
/// arrive from one rank after another. Ranks that divide the same experts (etp) gather what each of them received, one
/// after another, and are all sorted by expert again. Source: MegaBlocks, arXiv:2211.15841, section 4; Megatron-core,
/// token_dispatcher.py (an all-to-all needs its counts on the host). Not modelled: capacities.
/// Checked against: tests/runtime/execution/expert_routes_test.cpp; one rank's numbers (experts_test.cpp).

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/program/routed_rows.h"
#include "runtime/execution/backend.h"

namespace plumbline {

/// A rank among those with which it exchanges rows: `ranks` hold different experts, `parts` divide the same ones.
struct ExpertPlace {
  std::int32_t ranks = 1;
  std::int32_t rank = 0;
  std::int32_t parts = 1;
  std::int32_t part = 0;

  /// Ranks whose rows arrive here.
  [[nodiscard]] std::int64_t sources() const { return std::int64_t{ranks} * parts; }
};

/// How many tokens a rank routes among how many experts.
struct RouteShape {
  std::int64_t tokens = 0;
  std::int64_t chosen = 1;
  std::int64_t experts = 1;  ///< of the network
  std::int64_t local_experts = 1;
  std::int64_t sources = 1;

  [[nodiscard]] std::int64_t choices() const { return tokens * chosen; }
  /// By expert of the network, then by source and local expert.
  [[nodiscard]] std::int64_t counts() const { return experts + sources * local_experts; }
  auto operator<=>(const RouteShape&) const = default;
};

/// Of one execution of a block and micro-batch, in the device's memory, in the order of kernels/expert_routing.h.
struct RouteTable {
  RouteShape shape;
  std::int32_t* experts = nullptr;    ///< by token and choice
  float* weights = nullptr;           ///< likewise
  std::int64_t* slots = nullptr;      ///< the row of each choice
  std::int64_t* sources = nullptr;    ///< the choice of each row
  std::int64_t* counts = nullptr;     ///< rows by expert of the network; behind them `arrivals`
  std::int64_t* arrivals = nullptr;   ///< rows by rank that they came from, and own expert
  std::int64_t* by_expert = nullptr;  ///< rows of each own expert
};

/// Tables for as many routes as are in flight; one that is let go serves the next. They are no tensors: not counted.
class RouteTables {
 public:
  explicit RouteTables(Backend& backend) : backend_(backend) {}
  RouteTables(const RouteTables&) = delete;
  RouteTables& operator=(const RouteTables&) = delete;
  /// Goes back when nobody holds it, before this object goes.
  [[nodiscard]] std::shared_ptr<const RouteTable> take(const RouteShape& shape);
  /// Reserves as many as a rehearsed step needed (step_memory.h).
  void prepare_as(const RouteTables& rehearsed);

 private:
  [[nodiscard]] RouteTable make(const RouteShape& shape);
  Backend& backend_;
  std::map<RouteShape, std::vector<RouteTable>> idle_;
  std::map<RouteShape, std::int64_t> made_;
};

/// Rows that a rank exchanges in one execution and micro-batch.
struct ExchangedRows {
  ExpertPlace place;
  std::vector<std::int64_t> leaving;   ///< by expert-parallel rank
  std::vector<std::int64_t> arriving;  ///< by part, and expert-parallel rank that they came from

  [[nodiscard]] bool is_known() const { return !arriving.empty(); }
  /// One for each choice of this rank's tokens.
  [[nodiscard]] std::int64_t chosen() const;
  /// For this rank's experts, gathered.
  [[nodiscard]] std::int64_t rows() const;
  /// What arrives here from each expert-parallel rank, before anything is gathered.
  [[nodiscard]] std::span<const std::int64_t> received() const;
  /// What each of the ranks that divide the same experts received.
  [[nodiscard]] std::vector<std::int64_t> by_part() const;
  [[nodiscard]] RoutedRows moved() const;
};

/// `counts`: of a table (RouteShape::counts).
[[nodiscard]] ExchangedRows exchanged_rows(const ExpertPlace& place, const RouteShape& shape,
                                           std::span<const std::int64_t> counts);
/// Every expert gets as many rows of each rank. `choices`: of each.
[[nodiscard]] ExchangedRows balanced_rows(const ExpertPlace& place, std::int64_t choices);
/// The same as evenly as choices go, where they are not known.
[[nodiscard]] ExchangedRows equal_shares(const ExpertPlace& place, std::int64_t choices);

}  // namespace plumbline
