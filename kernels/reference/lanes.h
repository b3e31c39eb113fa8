#pragma once
/// \file lanes.h: sums and maxima of a chunk in a fixed number of lanes, so that the compiler vectorises them without
/// leave to reorder, and the result is the same for every vector length.

#include <algorithm>
#include <cstdint>

namespace plumbline::reference {

inline constexpr std::int64_t lane_count = 16;

// Inlined always, so that they are compiled for the vectors of the function that calls them (vector_loops.h).

/// sum over i of term(i), i in [0, count), added lane by lane, then the lanes in halves.
template <class Number, class Term>
[[gnu::always_inline]] inline Number lane_sum(std::int64_t count, Term term) {
  Number lanes[lane_count] = {};
  std::int64_t i = 0;
  for (; i + lane_count <= count; i += lane_count)
    for (std::int64_t lane = 0; lane < lane_count; ++lane) lanes[lane] += term(i + lane);
  for (std::int64_t lane = 0; i + lane < count; ++lane) lanes[lane] += term(i + lane);
  for (std::int64_t half = lane_count / 2; half > 0; half /= 2)
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

/// The largest of value(i) and `start`. NaNs are passed over.
template <class Value>
[[gnu::always_inline]] inline float lane_maximum(std::int64_t count, float start, Value value) {
  float lanes[lane_count];
  std::fill(lanes, lanes + lane_count, start);
  std::int64_t i = 0;
  for (; i + lane_count <= count; i += lane_count)
    for (std::int64_t lane = 0; lane < lane_count; ++lane) {
      const float v = value(i + lane);
      lanes[lane] = v > lanes[lane] ? v : lanes[lane];
    }
  for (std::int64_t lane = 0; i + lane < count; ++lane) lanes[lane] = std::max(lanes[lane], value(i + lane));
  for (std::int64_t half = lane_count / 2; half > 0; half /= 2)
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] = std::max(lanes[lane], lanes[lane + half]);
  return lanes[0];
}

}  // namespace plumbline::reference
