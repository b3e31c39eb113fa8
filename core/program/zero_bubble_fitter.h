#pragma once
/// \file zero_bubble_fitter.h: one variant of the greedy rule behind fitted_zero_bubble.h.
///
/// Answers: the ranks' orders under one variant. Model, source, limits and checks: see fitted_zero_bubble.h.

#include <array>

#include "core/program/fitted_zero_bubble.h"

namespace plumbline {

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

}  // namespace plumbline
