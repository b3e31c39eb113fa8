#include "core/cost/pipeline_time.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/base/errors.h"
#include "core/plan/pipeline_schedule.h"
#include "core/program/order_makespan.h"

namespace plumbline {
namespace {

Picoseconds sum(std::span<const Picoseconds> values) {
  return std::accumulate(values.begin(), values.end(), Picoseconds(0));
}
Picoseconds largest(std::span<const Picoseconds> values) { return *std::max_element(values.begin(), values.end()); }

/// Times of the stages that the ranks' chunks are: equal parts, the remainder on the last chunk.
StageTimes stage_times(const PipelineTimes& t, StagePlacement placement, std::int64_t v) {
  const auto p = static_cast<std::int32_t>(t.forward.size());
  const auto stages = static_cast<std::size_t>(p * v);
  StageTimes result{std::vector<Picoseconds>(stages), std::vector<Picoseconds>(stages),
                    std::vector<Picoseconds>(stages), std::vector<Picoseconds>(stages - 1)};
  for (std::int32_t rank = 0; rank < p; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const Picoseconds weight = t.backward_weight.empty() ? t.backward[r] / std::int64_t{2} : t.backward_weight[r];
    for (std::int32_t chunk = 0; chunk < v; ++chunk) {
      const auto s = static_cast<std::size_t>(stage_of(placement, p, rank, chunk));
      const auto part = [&](Picoseconds whole) { return chunk + 1 < v ? whole / v : whole - (v - 1) * (whole / v); };
      result.forward[s] = part(t.forward[r]);
      result.backward_input[s] = part(t.backward[r] - weight);
      result.backward_weight[s] = part(weight);
    }
  }
  for (std::int32_t s = 0; s + 1 < static_cast<std::int32_t>(stages); ++s) {
    const std::int32_t link = std::min(rank_of_stage(placement, p, s), rank_of_stage(placement, p, s + 1));
    if (link + 1 < p) result.latency[static_cast<std::size_t>(s)] = t.latency[static_cast<std::size_t>(link)];
  }
  return result;
}

Picoseconds evaluated_makespan(Schedule schedule, const PipelineTimes& t, std::int64_t m, std::int64_t v) {
  const PipelineShape shape{static_cast<std::int32_t>(t.forward.size()), static_cast<std::int32_t>(v),
                            static_cast<std::int32_t>(m)};
  return order_makespan(compute_schedule(schedule, shape), stage_times(t, placement(schedule), v));
}

}  // namespace

Picoseconds zb_h1_equal_makespan(std::int64_t p, std::int64_t m, Picoseconds f, Picoseconds b, Picoseconds w) {
  return m * (f + b + w) + (p - 1) * (f + b - w);
}

Picoseconds zb_h2_equal_period(std::int64_t p, std::int64_t m, Picoseconds f, Picoseconds b, Picoseconds w) {
  return m * (f + b + w) + (p - 1) * (f + b - std::int64_t{2} * w);
}

Picoseconds gpipe_makespan(const PipelineTimes& t, std::int64_t m) {
  return sum(t.forward) + sum(t.backward) + (m - 1) * (largest(t.forward) + largest(t.backward)) +
         std::int64_t{2} * sum(t.latency);
}

Picoseconds one_f_one_b_makespan(const PipelineTimes& t, std::int64_t m) {
  const auto p = static_cast<std::int64_t>(t.forward.size());
  // Small pipelines need no allocation: this is the inner loop of a search.
  constexpr std::int64_t inline_stages = 64;
  std::array<std::int64_t, 2 * inline_stages> inline_clocks{};
  std::vector<std::int64_t> heap_clocks;
  if (p > inline_stages) heap_clocks.resize(static_cast<std::size_t>(2 * p));
  std::int64_t* const clock = p > inline_stages ? heap_clocks.data() : inline_clocks.data();
  std::int64_t* const backward_end = clock + p;
  const auto f = [&](std::int64_t s) { return t.forward[static_cast<std::size_t>(s)].value(); };
  const auto b = [&](std::int64_t s) { return t.backward[static_cast<std::size_t>(s)].value(); };
  const auto c = [&](std::int64_t s) { return t.latency[static_cast<std::size_t>(s)].value(); };
  for (std::int64_t wave = 0; wave < m + p - 1; ++wave) {
    if (wave < m) {
      std::int64_t arrival = 0;
      for (std::int64_t s = 0; s < p; ++s) {
        clock[s] = std::max(clock[s], arrival) + f(s);
        if (s + 1 < p) arrival = clock[s] + c(s);
      }
    }
    // Backward of micro-batch wave - (p - s) + 1 on stage s; stage s + 1 ran that micro-batch one wave earlier, so its
    // entry still holds the time that is needed here.
    for (std::int64_t s = std::max<std::int64_t>(0, p - 1 - wave); s < p; ++s) {
      const std::int64_t micro_batch = wave - (p - s) + 1;
      if (micro_batch >= m) continue;
      const std::int64_t gradient = s + 1 < p ? backward_end[s + 1] + c(s) : clock[s];
      clock[s] = std::max(clock[s], gradient) + b(s);
      backward_end[s] = clock[s];
    }
  }
  return Picoseconds(*std::max_element(clock, clock + p));
}

Picoseconds pipeline_lower_bound(Schedule schedule, const PipelineTimes& t, std::int64_t m, std::int64_t v) {
  if (schedule == Schedule::gpipe) return gpipe_makespan(t, m);
  Picoseconds bound(0);
  Picoseconds before(0);
  for (std::size_t s = 0; s < t.forward.size(); ++s) {
    bound = std::max(bound, before + m * (t.forward[s] + t.backward[s]));
    // A split backward frees a rank to drain with weight gradients: only the fill is certain.
    before += (splits_backward(schedule) ? t.forward[s] : t.forward[s] + t.backward[s]) / v;
    if (s < t.latency.size()) before += std::int64_t{splits_backward(schedule) ? 1 : 2} * t.latency[s];
  }
  return bound;
}

Picoseconds interleaved_makespan(const PipelineTimes& t, std::int64_t m, std::int64_t v) {
  return pipeline_lower_bound(Schedule::interleaved, t, m, v);
}

Picoseconds pipeline_makespan(Schedule schedule, const PipelineTimes& t, std::int64_t m, std::int64_t v) {
  check(!t.forward.empty() && t.forward.size() == t.backward.size() && t.latency.size() + 1 == t.forward.size(),
        "one time per rank, one latency per link");
  switch (schedule) {
    case Schedule::none: return m * (t.forward.front() + t.backward.front());
    case Schedule::gpipe: return gpipe_makespan(t, m);
    case Schedule::one_f_one_b: return one_f_one_b_makespan(t, m);
    case Schedule::interleaved: return interleaved_makespan(t, m, v);
    case Schedule::zb_h1:
    case Schedule::zb_h2:
    case Schedule::zbv:
    case Schedule::v_half:
    case Schedule::dualpipev: return evaluated_makespan(schedule, t, m, v);
  }
  return Picoseconds(0);
}

}  // namespace plumbline
