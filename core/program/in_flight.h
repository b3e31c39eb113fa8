#pragma once
/// \file in_flight.h: how many states of forwards a rank holds while it runs its order.
///
/// Answers: peaks over the order, in chunks (one micro-batch of one chunk).
/// Model: activations live from a forward to its backward or input gradient; what the weight gradient still needs
/// (inputs of products and gradients of their outputs) lives from there to the weight gradient.
/// Source: schedules-in-flight counting of arXiv:2104.04473 and arXiv:2401.10241 section 2.
/// Not modelled: bytes; lifetimes inside an action.
/// Checked against: tests/reference/pipeline_orders_test.cpp (published peaks, and chunks_in_flight of core/plan).

#include "core/program/compute_schedule.h"

namespace plumbline {

struct InFlight {
  std::int64_t states = 0;         ///< from forward to weight gradient: what "in flight" means without freeing early
  std::int64_t activations = 0;    ///< from forward to backward or input gradient
  std::int64_t weight_states = 0;  ///< from input gradient to weight gradient
  bool operator==(const InFlight&) const = default;
};

[[nodiscard]] InFlight in_flight(const RankOrder& order);

}  // namespace plumbline
