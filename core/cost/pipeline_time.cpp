#include "core/cost/pipeline_time.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/base/errors.h"

namespace plumbline {
namespace {

Picoseconds sum(std::span<const Picoseconds> values) {
  return std::accumulate(values.begin(), values.end(), Picoseconds(0));
}
Picoseconds largest(std::span<const Picoseconds> values) { return *std::max_element(values.begin(), values.end()); }

}  // namespace

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
    before += (t.forward[s] + t.backward[s]) / v;
    if (s < t.latency.size()) before += std::int64_t{2} * t.latency[s];
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
  }
  return Picoseconds(0);
}

}  // namespace plumbline
