#pragma once
/// \file pipeline_makespan.h: how long a step's micro-batches take, and what published formulas say.

#include <algorithm>

#include "core/cost/pipeline_time.h"

namespace plumbline {

/// The latest of `pipeline_ends`.
[[nodiscard]] inline Picoseconds pipeline_makespan(Schedule schedule, const PipelineTimes& times,
                                                   std::int64_t micro_batches, std::int64_t virtual_stages) {
  const std::vector<Picoseconds> ends = pipeline_ends(schedule, times, micro_batches, virtual_stages);
  return *std::max_element(ends.begin(), ends.end());
}

/// Equal ranks without latency, b = input gradient: m (f + b + w) + (p - 1)(f + b - w) with a barrier, for w <= f, w <=
/// b and m >= 2 p (ZB-H1). Source: arXiv:2401.10241 section 2.
[[nodiscard]] inline Picoseconds zb_h1_equal_makespan(std::int64_t p, std::int64_t m, Picoseconds f, Picoseconds b,
                                                      Picoseconds w) {
  return m * (f + b + w) + (p - 1) * (f + b - w);
}
/// m (f + b + w) + (p - 1)(f + b - 2 w) without one, for f = b and w <= b, m >= 2 p (ZB-H2). Source: the same.
[[nodiscard]] inline Picoseconds zb_h2_equal_period(std::int64_t p, std::int64_t m, Picoseconds f, Picoseconds b,
                                                    Picoseconds w) {
  return m * (f + b + w) + (p - 1) * (f + b - std::int64_t{2} * w);
}

}  // namespace plumbline
