#pragma once
/// \file fitted_zero_bubble.h: a zero-bubble order fitted to the times of its actions and to a memory limit: what the
/// rates published for ZB-1p and ZB-2p come from. No plan uses it: no framework launches an order of its own.
///
/// Answers: an order of forwards, input and weight gradients (one chunk per rank) that waits little. Not an optimum.
/// Model: equal ranks. A greedy rule: forwards until the first gradient returns or memory is full; then gradients as
/// they arrive, weight gradients where the rank would wait for longer than they take or than another rank has waited
/// already. Eight variants of the rule; the one whose slowest rank is busy for the shortest time wins.
/// Source: arXiv:2401.10241 section 3.1 (ZB-1p and ZB-2p: limits of p and 2 p activations), as its authors' code has
/// it. Not modelled: unequal ranks; it gives up a variant in which memory is full and no weight gradient is owed.
/// Checked against: tests/reference/zero_bubble_rates_test.cpp (the paper's 18 bubble rates, to its four digits).

#include <algorithm>
#include <optional>

#include "core/program/order_makespan.h"
#include "tests/schedules.h"

namespace plumbline {

struct FittedZeroBubble {
  Picoseconds forward;
  Picoseconds backward_input;
  Picoseconds backward_weight;
  Picoseconds latency;
  // Memory in any unit: what a forward keeps, how much of it its weight gradient still needs, and the limit of a rank.
  std::int64_t activation = 1;
  std::int64_t weight_state = 1;
  std::int64_t limit = 1;
};

/// What the eight variants differ in.
struct FitterVariant {
  bool wait_before_first_gradient;  ///< rather wait for it than run a forward that ends after it arrives
  bool delay_forwards;              ///< hold a forward back when the next rank would start its gradient late
  bool fill_short_waits;            ///< with a weight gradient even where another rank waits longer
};

class ZeroBubbleFitter {
 public:
  ZeroBubbleFitter(std::int32_t pipeline_stages, std::int32_t micro_batches, const FittedZeroBubble& costs,
                   FitterVariant variant);
  /// Nothing when memory is full and nothing can be freed.
  [[nodiscard]] std::optional<std::vector<RankOrder>> run();

 private:
  struct Rank {
    std::int32_t forwards = 0;
    std::int32_t inputs = 0;
    std::int32_t weights = 0;
    std::int64_t held = 0;
    Picoseconds clock{0};
    Picoseconds waited{0};
    std::vector<Picoseconds> forward_end;
    std::vector<Picoseconds> input_end;
    RankOrder order;
    [[nodiscard]] bool owes_weights() const { return weights < inputs; }
  };

  void fill();
  [[nodiscard]] std::vector<std::int32_t> warm_up_forwards() const;
  [[nodiscard]] bool wants_forward(std::size_t rank) const;
  void forward_round();
  void gradient_round();
  void add_forward(std::size_t rank);
  void add_input(std::size_t rank);
  void add_weight(Rank& rank);
  void advance(Rank& rank, Picoseconds arrival, Picoseconds time);
  void make_room(Rank& rank, std::int64_t bytes);
  void use_wait(Rank& rank, Picoseconds arrival);
  [[nodiscard]] Picoseconds longest_wait() const;

  FittedZeroBubble costs_;
  FitterVariant variant_;
  std::int32_t micro_batches_;
  std::vector<Rank> ranks_;
  bool full_ = false;
};

ZeroBubbleFitter::ZeroBubbleFitter(std::int32_t p, std::int32_t m, const FittedZeroBubble& costs, FitterVariant variant)
    : costs_(costs), variant_(variant), micro_batches_(m), ranks_(static_cast<std::size_t>(p)) {}

inline std::optional<std::vector<RankOrder>> ZeroBubbleFitter::run() {
  fill();
  for (std::int32_t i = 1; i < micro_batches_ && !full_; ++i) {
    forward_round();
    gradient_round();
  }
  if (full_) return std::nullopt;
  std::vector<RankOrder> orders;
  for (Rank& rank : ranks_) {
    while (rank.owes_weights()) add_weight(rank);
    orders.push_back(std::move(rank.order));
  }
  return orders;
}

/// Up to and with the first input gradient of every rank.
inline void ZeroBubbleFitter::fill() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) add_forward(r);
  const std::vector<std::int32_t> more = warm_up_forwards();
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    for (std::int32_t i = 0; i < more[r]; ++i) add_forward(r);
  for (std::size_t r = ranks_.size(); r-- > 0;) add_input(r);
}

/// How many forwards beyond the first one fit before the first gradient arrives; an earlier rank runs more.
inline std::vector<std::int32_t> ZeroBubbleFitter::warm_up_forwards() const {
  std::vector<std::int32_t> more(ranks_.size(), 0);
  Picoseconds gradient = ranks_.back().forward_end.front() + costs_.backward_input;
  for (std::size_t r = ranks_.size() - 1; r-- > 0;) {
    std::int64_t held = ranks_[r].held;
    Picoseconds clock = ranks_[r].clock;
    const Picoseconds arrival = gradient + costs_.latency;
    const auto fits = [&] {
      return variant_.wait_before_first_gradient ? clock + costs_.forward <= arrival : clock < arrival;
    };
    while (1 + more[r] < micro_batches_ && held + costs_.activation <= costs_.limit && fits()) {
      held += costs_.activation;
      clock += costs_.forward;
      ++more[r];
    }
    gradient = std::max(clock, arrival) + costs_.backward_input;
  }
  for (std::size_t r = 1; r < more.size(); ++r)
    while (more[r] > 0 && more[r] >= more[r - 1] && 1 + more[r] < micro_batches_) --more[r];
  return more;
}

inline bool ZeroBubbleFitter::wants_forward(std::size_t r) const {
  const Rank& rank = ranks_[r];
  if (rank.forwards >= micro_batches_) return false;
  if (!variant_.delay_forwards || r + 1 == ranks_.size()) return true;
  const Rank& next = ranks_[r + 1];
  if (rank.forwards < next.forwards + 2) return true;
  const Picoseconds needed = next.clock + costs_.forward + costs_.backward_input + costs_.latency;
  if (rank.clock >= needed) return false;
  Picoseconds freeing(0);
  std::int64_t held = rank.held + costs_.activation;
  for (std::int32_t w = rank.weights; held > costs_.limit && w < rank.inputs; ++w) {
    held -= costs_.weight_state;
    freeing += costs_.backward_weight;
  }
  return rank.clock + costs_.forward + freeing <= needed || needed - rank.clock > longest_wait() - rank.waited;
}

inline void ZeroBubbleFitter::forward_round() {
  std::vector<bool> wanted;
  for (std::size_t r = 0; r < ranks_.size(); ++r) wanted.push_back(wants_forward(r));
  for (std::size_t r = ranks_.size() - 1; r-- > 0;) wanted[r] = wanted[r] && wanted[r + 1];
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (!wanted[r]) continue;
    Rank& rank = ranks_[r];
    make_room(rank, costs_.activation);
    if (r > 0) use_wait(rank, ranks_[r - 1].forward_end[static_cast<std::size_t>(rank.forwards)] + costs_.latency);
    add_forward(r);
  }
}

inline void ZeroBubbleFitter::gradient_round() {
  for (std::size_t r = ranks_.size(); r-- > 0;) {
    Rank& rank = ranks_[r];
    if (r + 1 < ranks_.size())
      use_wait(rank, ranks_[r + 1].input_end[static_cast<std::size_t>(rank.inputs)] + costs_.latency);
    // The first rank has nobody to hurry for once its forwards are done.
    while (r == 0 && rank.forwards == micro_batches_ && rank.owes_weights()) add_weight(rank);
    add_input(r);
  }
}

inline void ZeroBubbleFitter::make_room(Rank& rank, std::int64_t bytes) {
  while (rank.held + bytes > costs_.limit && rank.owes_weights()) add_weight(rank);
  full_ = full_ || rank.held + bytes > costs_.limit;
}

/// Weight gradients that end before the input arrives; and one that does not where the wait is worth more.
inline void ZeroBubbleFitter::use_wait(Rank& rank, Picoseconds arrival) {
  while (rank.owes_weights() && rank.clock + costs_.backward_weight <= arrival) add_weight(rank);
  if (!rank.owes_weights() || rank.clock >= arrival) return;
  if (variant_.fill_short_waits || arrival - rank.clock > longest_wait() - rank.waited) add_weight(rank);
}

inline Picoseconds ZeroBubbleFitter::longest_wait() const {
  Picoseconds longest(0);
  for (const Rank& rank : ranks_) longest = std::max(longest, rank.waited);
  return longest;
}

/// Waiting before a rank's first action costs it nothing.
inline void ZeroBubbleFitter::advance(Rank& rank, Picoseconds arrival, Picoseconds time) {
  const Picoseconds start = std::max(rank.clock, arrival);
  if (rank.forwards > 0) rank.waited += start - rank.clock;
  rank.clock = start + time;
}

inline void ZeroBubbleFitter::add_forward(std::size_t r) {
  Rank& rank = ranks_[r];
  const auto i = static_cast<std::size_t>(rank.forwards);
  advance(rank, r > 0 ? ranks_[r - 1].forward_end[i] + costs_.latency : Picoseconds(0), costs_.forward);
  rank.forward_end.push_back(rank.clock);
  rank.held += costs_.activation;
  rank.order.push_back({ActionKind::forward, 0, rank.forwards++});
}

inline void ZeroBubbleFitter::add_input(std::size_t r) {
  Rank& rank = ranks_[r];
  const auto i = static_cast<std::size_t>(rank.inputs);
  const bool last = r + 1 == ranks_.size();
  advance(rank, last ? Picoseconds(0) : ranks_[r + 1].input_end[i] + costs_.latency, costs_.backward_input);
  rank.input_end.push_back(rank.clock);
  rank.held -= costs_.activation - costs_.weight_state;
  rank.order.push_back({ActionKind::backward_input, 0, rank.inputs++});
}

inline void ZeroBubbleFitter::add_weight(Rank& rank) {
  advance(rank, Picoseconds(0), costs_.backward_weight);
  rank.held -= costs_.weight_state;
  rank.order.push_back({ActionKind::backward_weight, 0, rank.weights++});
}

/// The longest time that a rank takes from its start to its end, each starting as early as it can.
[[nodiscard]] inline Picoseconds longest_rank(const OrderTiming& timing) {
  Picoseconds longest(0);
  for (std::size_t rank = 0; rank < timing.end.size(); ++rank)
    longest = std::max(longest, timing.end[rank] - timing.start[rank]);
  return longest;
}

/// Nothing when no variant fits into the limit.
[[nodiscard]] inline std::optional<ComputeSchedule> fitted_zero_bubble(std::int32_t p, std::int32_t m,
                                                                       const FittedZeroBubble& costs) {
  const StageTimes times = equal_stages(p, costs.forward, costs.backward_input, costs.backward_weight, costs.latency);
  std::optional<ComputeSchedule> best;
  Picoseconds least = Picoseconds::largest();
  for (int bits = 7; bits >= 0; --bits) {
    const FitterVariant variant{(bits & 4) != 0, (bits & 2) != 0, (bits & 1) != 0};
    auto orders = ZeroBubbleFitter(p, m, costs, variant).run();
    if (!orders) continue;
    ComputeSchedule schedule{{p, 1, m}, StagePlacement::looped, std::move(*orders)};
    const Picoseconds span = longest_rank(order_timing(dry_run(schedule), times));
    if (span >= least) continue;
    least = span;
    best = std::move(schedule);
  }
  return best;
}

}  // namespace plumbline
