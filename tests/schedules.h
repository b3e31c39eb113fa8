#pragma once
/// \file schedules.h: pipeline schedules as tests ask for them: by text, from rows, or at random.

#include "core/base/errors.h"
#include "core/io/schedule_csv.h"
#include "core/program/order_makespan.h"
#include "tests/test_rows.h"

namespace plumbline {

inline Schedule schedule_at(JsonObject& row) { return schedule_from_text(row.at("schedule").string()).value(); }

inline PipelineShape shape_at(JsonObject& row) {
  return {static_cast<std::int32_t>(count_at(row, "pipeline_stages")),
          row.has("virtual_stages") ? static_cast<std::int32_t>(count_at(row, "virtual_stages")) : 1,
          static_cast<std::int32_t>(count_at(row, "micro_batches"))};
}

/// The row's `orders`, one line per rank, read as a pipeline-schedule CSV.
inline ComputeSchedule orders_at(JsonObject& row) {
  std::string text;
  for (const JsonPlace& line : row.at("orders").elements()) text += line.string() + "\n";
  return read_schedule_csv(text, row.where());
}

inline StageTimes stage_times_at(JsonObject& row) {
  const auto times = [&](const char* key) {
    std::vector<Picoseconds> values;
    for (const std::int64_t value : counts_at(row, key)) values.emplace_back(value);
    return values;
  };
  return {times("forward"), times("backward_input"), times("backward_weight"), times("latency")};
}

/// Of stages that take the same.
inline StageTimes equal_stages(std::int32_t stages, Picoseconds forward, Picoseconds backward_input,
                               Picoseconds backward_weight, Picoseconds latency) {
  const auto n = static_cast<std::size_t>(stages);
  return {std::vector(n, forward), std::vector(n, backward_input), std::vector(n, backward_weight),
          std::vector(n - 1, latency)};
}

/// Every action takes `unit`, nothing travels.
inline StageTimes equal_actions(const PipelineShape& shape, std::int64_t unit) {
  const Picoseconds time(unit);
  return equal_stages(shape.stages(), time, time, time, Picoseconds(0));
}

/// Of a schedule that ends.
inline Picoseconds order_makespan(const ComputeSchedule& schedule, const StageTimes& times) {
  const auto stages = static_cast<std::size_t>(schedule.shape.stages());
  check(times.forward.size() == stages && times.backward_input.size() == stages &&
            times.backward_weight.size() == stages &&
            (times.into_forward.empty() ? times.latency.size() + 1 == stages
                                        : times.into_forward.size() == stages && times.into_backward.size() == stages),
        "one time per stage, one latency per boundary or one hop per stage and direction");
  const DryRun run = dry_run(schedule);
  check(!run.deadlock, "an order is dry-run before it is timed");
  return order_timing(run, times).makespan();
}

}  // namespace plumbline
