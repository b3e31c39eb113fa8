#include "core/cost/pipeline_time.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/base/errors.h"
#include "core/cost/steady_clocks.h"
#include "core/plan/pipeline_schedule.h"
#include "core/program/steady_order.h"

namespace plumbline {
namespace {

Picoseconds sum(std::span<const Picoseconds> values) {
  return std::accumulate(values.begin(), values.end(), Picoseconds(0));
}
Picoseconds largest(std::span<const Picoseconds> values) { return *std::max_element(values.begin(), values.end()); }

/// Simulates 1F1B wave by wave; `done` sees when each rank ended.
template <class Done>
void one_f_one_b_sweep(const PipelineTimes& t, std::int64_t m, Done done) {
  const auto p = static_cast<std::int64_t>(t.forward.size());
  // Small pipelines need no allocation: this is the inner loop of a search.
  constexpr std::int64_t inline_stages = 64;
  std::array<std::int64_t, 3 * inline_stages> inline_clocks{};
  std::vector<std::int64_t> heap_clocks;
  if (p > inline_stages) heap_clocks.resize(static_cast<std::size_t>(3 * p));
  std::int64_t* const clock = p > inline_stages ? heap_clocks.data() : inline_clocks.data();
  std::int64_t* const backward_end = clock + p;
  std::int64_t* const reduced = clock + 2 * p;
  const auto f = [&](std::int64_t s) { return t.forward[static_cast<std::size_t>(s)].value(); };
  const auto b = [&](std::int64_t s) { return t.backward[static_cast<std::size_t>(s)].value(); };
  const auto c = [&](std::int64_t s) { return t.latency[static_cast<std::size_t>(s)].value(); };
  const auto once = [&](std::int64_t s, Picoseconds OnceTimes::*part) {
    return t.once.empty() ? 0 : (t.once[static_cast<std::size_t>(s)].*part).value();
  };
  for (std::size_t s = 0; s < t.start.size(); ++s) clock[s] = t.start[s].value();
  SteadyClocks steady;
  bool looks = t.leaves_out_rounds && m > 2 * p;
  for (std::int64_t wave = 0; wave < m + p - 1; ++wave) {
    // Every stage runs a forward and a backward in a wave, none of them its first or its last.
    if (looks && wave > p && wave + 1 < m) {
      if (const auto found = steady.seen({clock, static_cast<std::size_t>(2 * p)})) {
        const std::int64_t times = (m - 1 - wave) / found->rounds;
        for (std::int64_t i = 0; i < 2 * p; ++i) clock[i] += times * found->shift;
        wave += times * found->rounds;
        looks = false;
      }
    }
    if (wave < m) {
      std::int64_t arrival = 0;
      for (std::int64_t s = 0; s < p; ++s) {
        clock[s] = std::max(clock[s], arrival) + f(s) + (wave == 0 ? once(s, &OnceTimes::forward) : 0);
        if (s + 1 < p) arrival = clock[s] + c(s);
        if (wave == 0) clock[s] += once(s, &OnceTimes::gathering);
      }
    }
    // Backward of micro-batch wave - (p - s) + 1 on stage s; stage s + 1 ran that micro-batch one wave earlier, so its
    // entry still holds the time that is needed here.
    for (std::int64_t s = std::max<std::int64_t>(0, p - 1 - wave); s < p; ++s) {
      const std::int64_t micro_batch = wave - (p - s) + 1;
      if (micro_batch >= m) continue;
      const std::int64_t gradient = s + 1 < p ? backward_end[s + 1] + c(s) : clock[s];
      clock[s] = std::max(clock[s], gradient);
      if (micro_batch + 1 == m) {
        reduced[s] = clock[s] + once(s, &OnceTimes::reducing);
        clock[s] += once(s, &OnceTimes::backward);
      }
      clock[s] += b(s);
      backward_end[s] = clock[s];
      if (micro_batch + 1 == m) clock[s] += once(s, &OnceTimes::scattering);
    }
  }
  for (std::int64_t s = 0; s < p; ++s) clock[s] = std::max(clock[s], reduced[s]);
  done(clock);
}

/// Of stages in the order of the network, as order_makespan.h wants them. A rank's first chunk in each direction
/// receives in transit; its later chunks wait the transfer out.
StageTimes stage_times(const PipelineTimes& t, StagePlacement placement, std::int32_t p, std::int32_t v) {
  StageTimes result;
  result.forward.assign(t.forward.begin(), t.forward.end());
  result.backward.assign(t.backward.begin(), t.backward.end());
  for (std::size_t s = 0; s < t.backward.size(); ++s) {
    const Picoseconds weight = t.backward_weight.empty() ? t.backward[s] / std::int64_t{2} : t.backward_weight[s];
    result.backward_input.push_back(t.backward_input.empty() ? t.backward[s] - weight : t.backward_input[s]);
    result.backward_weight.push_back(weight);
  }
  const auto hop = [&](std::int32_t stage, std::int32_t maker, std::int32_t first_chunk) {
    const std::int32_t rank = rank_of_stage(placement, p, stage);
    if (maker < 0 || maker >= p * v) return Hop{};
    const Picoseconds time = t.hop(rank, rank_of_stage(placement, p, maker));
    return stage / p == first_chunk ? Hop{time, Picoseconds(0)} : Hop{Picoseconds(0), time};
  };
  for (std::int32_t s = 0; s < p * v; ++s) {
    result.into_forward.push_back(hop(s, s - 1, 0));
    result.into_backward.push_back(hop(s, s + 1, v - 1));
  }
  result.start.assign(t.start.begin(), t.start.end());
  for (const OnceTimes& once : t.once) {
    result.first_forward.push_back({once.forward, once.gathering, once.arriving});
    result.last_weight.push_back({once.backward, once.reducing, once.scattering});
  }
  return result;
}

std::vector<Picoseconds> evaluated_ends(Schedule schedule, const PipelineTimes& t, std::int64_t m, std::int64_t v) {
  const PipelineShape shape{static_cast<std::int32_t>(t.latency.size() + 1), static_cast<std::int32_t>(v),
                            static_cast<std::int32_t>(m)};
  OrderTiming timing = schedule_timing(
      schedule, shape, stage_times(t, placement(schedule), shape.pipeline_stages, shape.virtual_stages));
  if (!t.from_own_begin) return std::move(timing.end);
  for (std::size_t rank = 0; rank < timing.end.size(); ++rank) {
    // What comes before its first forward belongs to the rank's step.
    const Picoseconds before = t.start.empty() ? Picoseconds(0) : t.start[rank];
    timing.end[rank] -= timing.start[rank] - before;
  }
  return std::move(timing.end);
}

/// GPipe micro-batch by micro-batch, where the first or the last one differs.
std::vector<Picoseconds> gpipe_sweep(const PipelineTimes& t, std::int64_t m) {
  const std::size_t p = t.forward.size();
  std::vector<Picoseconds> clock(t.start.begin(), t.start.end());
  clock.resize(p, Picoseconds(0));
  for (std::int64_t i = 0; i < m; ++i) {
    Picoseconds arrival(0);
    for (std::size_t s = 0; s < p; ++s) {
      clock[s] = std::max(clock[s], arrival) + t.forward[s] + (i == 0 ? t.once[s].forward : Picoseconds(0));
      if (s + 1 < p) arrival = clock[s] + t.latency[s];
      if (i == 0) clock[s] += t.once[s].gathering;
    }
  }
  for (std::int64_t i = 0; i < m; ++i) {
    Picoseconds arrival(0);
    for (std::size_t s = p; s-- > 0;) {
      const Picoseconds begin = std::max(clock[s], arrival);
      clock[s] = begin + t.backward[s] + (i + 1 == m ? t.once[s].backward : Picoseconds(0));
      if (s > 0) arrival = clock[s] + t.latency[s - 1];
      if (i + 1 == m) clock[s] = std::max(clock[s] + t.once[s].scattering, begin + t.once[s].reducing);
    }
  }
  return clock;
}

std::vector<Picoseconds> gpipe_ends(const PipelineTimes& t, std::int64_t m, std::int64_t) {
  if (!t.once.empty()) return gpipe_sweep(t, m);
  // Backwards start when the last rank has ended all forwards, and pass the ranks as forwards did.
  const Picoseconds turn = sum(t.forward) + (m - 1) * largest(t.forward) + sum(t.latency);
  std::vector<Picoseconds> ends(t.forward.size());
  Picoseconds passed = turn;
  Picoseconds slowest(0);
  for (std::size_t s = ends.size(); s-- > 0;) {
    passed += t.backward[s];
    slowest = std::max(slowest, t.backward[s]);
    ends[s] = passed + (m - 1) * slowest;
    if (s > 0) passed += t.latency[s - 1];
  }
  return ends;
}

std::vector<Picoseconds> one_rank_end(const PipelineTimes& t, std::int64_t m, std::int64_t) {
  const Picoseconds equal = m * (t.forward.front() + t.backward.front());
  if (t.once.empty()) return {equal};
  const OnceTimes& once = t.once.front();
  const Picoseconds last = equal - t.backward.front() + t.start.front() + once.forward + once.gathering;
  return {last + std::max(t.backward.front() + once.backward + once.scattering, once.reducing)};
}

std::vector<Picoseconds> one_f_one_b_ends(const PipelineTimes& t, std::int64_t m, std::int64_t) {
  const auto p = static_cast<std::int64_t>(t.forward.size());
  std::vector<Picoseconds> ends(t.forward.size());
  one_f_one_b_sweep(t, m, [&](const std::int64_t* clock) {
    for (std::int64_t s = 0; s < p; ++s) ends[static_cast<std::size_t>(s)] = Picoseconds(clock[s]);
  });
  return ends;
}

struct ClosedForm {
  Schedule schedule;
  std::vector<Picoseconds> (*ends)(const PipelineTimes&, std::int64_t micro_batches, std::int64_t virtual_stages);
};
/// Of the schedules that are not listed, the order is evaluated.
constexpr std::array closed_forms{ClosedForm{Schedule::none, one_rank_end}, ClosedForm{Schedule::gpipe, gpipe_ends},
                                  ClosedForm{Schedule::one_f_one_b, one_f_one_b_ends},
                                  ClosedForm{Schedule::interleaved, interleaved_ends}};

}  // namespace

Picoseconds one_f_one_b_makespan(const PipelineTimes& t, std::int64_t m) {
  Picoseconds makespan(0);
  one_f_one_b_sweep(t, m, [&](const std::int64_t* clock) {
    makespan = Picoseconds(*std::max_element(clock, clock + t.forward.size()));
  });
  return makespan;
}

void wait_for_links(std::vector<Picoseconds>& ends, std::span<const Picoseconds> loads) {
  for (std::size_t rank = 0; rank < loads.size(); ++rank) {
    const std::size_t before = rank > 0 ? rank - 1 : ends.size() - 1;
    for (const std::size_t end : {before, rank}) ends[end] = std::max(ends[end], loads[rank]);
  }
}

std::vector<Picoseconds> pipeline_ends(Schedule schedule, const PipelineTimes& t, std::int64_t m, std::int64_t v) {
  check(
      t.forward.size() == (t.latency.size() + 1) * static_cast<std::size_t>(v) && t.forward.size() == t.backward.size(),
      "one time per stage, one latency per link");
  const auto own = std::find_if(closed_forms.begin(), closed_forms.end(),
                                [&](const ClosedForm& f) { return f.schedule == schedule; });
  std::vector<Picoseconds> ends = own != closed_forms.end() ? own->ends(t, m, v) : evaluated_ends(schedule, t, m, v);
  wait_for_links(ends, t.link_loads);
  return ends;
}

}  // namespace plumbline
