#pragma once
/// \file steady_state.h: long programs simulated as short ones, with what is left out of their steady state put back.
///
/// Answers the timeline of a program of very many micro-batches, exactly, from that of a short one. Model: lists of
/// actions repeat a period (core/program/repeating_order.h). Where the last periods before a cut start and end as those
/// before them, all later by the same time, and nothing older is still at work, the program's state is that of a period
/// before; every further period then only adds that time to whatever follows. What comes before the repeating part may
/// be needed by it (parameters that are gathered once): it has ended by then. Where no periods are alike, as while
/// ranks still drift apart, nothing is left out. All times are integers, and what runs at the same time shares its
/// rates by the same arithmetic at any hour, so equal is equal.
/// Source: steady_periods.h. Not modelled: GPipe, whose ranks drift apart while they run forward; orders of one's own.
/// Checked against: tests/property/steady_state_test.cpp (whole programs of every schedule, exact).

#include "core/simulate/timeline.h"

namespace plumbline {

/// What of a long program was not lowered: periods between two of its actions on every rank.
struct LeftOut {
  std::int64_t micro_batches = 0;   ///< 0: nothing was left out
  std::int64_t repeats = 0;         ///< of the period that is before the cut
  std::vector<std::int32_t> first;  ///< by rank: of that period
  std::vector<std::int32_t> cut;    ///< by rank: the first action behind what was left out
  Picoseconds time{0};              ///< that it takes, on every rank

  [[nodiscard]] bool is_behind(std::size_t rank, std::int32_t action) const {
    return micro_batches > 0 && action >= cut[rank];
  }
  /// How often an action of the short program is in the whole one.
  [[nodiscard]] std::int64_t count(std::size_t rank, std::size_t action) const {
    if (micro_batches == 0) return 1;
    const auto i = static_cast<std::int32_t>(action);
    return i >= first[rank] && i < cut[rank] ? 1 + repeats : 1;
  }
};

/// "999900 micro-batches like those before"; empty where nothing was left out.
[[nodiscard]] std::string to_text(const LeftOut& left_out);
/// When a rank is at what was left out, in the lengthened timeline.
[[nodiscard]] Span gap(const LeftOut& left_out, const Timeline& timeline, std::size_t rank);

/// Where the order of a short program may be cut.
struct OrderCut {
  std::int32_t from = 0;         ///< first micro-batch of the repeating part
  std::int32_t micro_batch = 0;  ///< the cut is before its first forward
  std::int32_t period = 1;       ///< of the order, in micro-batches
};

struct SteadyState {
  std::int64_t micro_batches = 0;  ///< of one period in time
  Picoseconds time{0};
  std::vector<std::int32_t> first;  ///< by rank, as LeftOut
  std::vector<std::int32_t> cut;
};
/// Nothing where the last periods before the cut are not alike.
[[nodiscard]] std::optional<SteadyState> steady_state(const Program& program, const Timeline& timeline,
                                                      const OrderCut& cut);

/// With `micro_batches`, a multiple of the steady state's, left out.
[[nodiscard]] LeftOut left_out(const SteadyState& steady, std::int64_t micro_batches);
/// Names the micro-batches behind the cut as the whole program does.
void renumber(Program& program, const LeftOut& left_out);
/// Moves what is behind the cut.
void lengthen(Timeline& timeline, const LeftOut& left_out);

}  // namespace plumbline
