#include "gui/pages/timeline/lanes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/program/action_kinds.h"
#include "gui/pages/timeline/executions.h"

namespace plumbline::gui {
namespace {

Activity activity_of(ActionKind kind) {
  constexpr std::array<Activity, timeline_kind_count> activities{
      Activity::forward,       Activity::backward, Activity::weight,   Activity::recompute,
      Activity::communication, Activity::offload,  Activity::optimizer};
  return activities[static_cast<std::size_t>(timeline_kind(kind))];
}

Segment segment_of(const Action& action, const Execution& execution) {
  return {execution.span, activity_of(action.kind()), action.chunk, execution.micro_batch};
}

bool starts_earlier(const Segment& a, const Segment& b) { return a.span.start < b.span.start; }

/// Adds a segment behind the others, or to the last one where that goes on.
void append(std::vector<Segment>& segments, Segment next) {
  if (!segments.empty()) {
    Segment& last = segments.back();
    next.span.start = std::max(next.span.start, last.span.end);
    const bool goes_on = last.span.end == next.span.start && last.activity == next.activity &&
                         last.chunk == next.chunk && last.micro_batch == next.micro_batch;
    if (goes_on) last.span.end = std::max(last.span.end, next.span.end);
    if (goes_on) return;
  }
  if (next.span.start < next.span.end) segments.push_back(next);
}

/// What runs in order, and in its gaps what runs alongside.
std::vector<Segment> merged(const std::vector<Segment>& in_order, const std::vector<Segment>& alongside,
                            Picoseconds end) {
  std::vector<Segment> result;
  std::size_t next = 0;
  const auto fill = [&](Picoseconds until) {
    for (; next < alongside.size() && alongside[next].span.start < until; ++next) {
      Segment exposed = alongside[next];
      exposed.span.end = std::min(exposed.span.end, until);
      append(result, exposed);
      if (alongside[next].span.end > until) return;  // the rest may show in a later gap
    }
  };
  for (const Segment& segment : in_order) {
    fill(segment.span.start);
    append(result, segment);
  }
  fill(end);
  return result;
}

Lane stage_lane(const SimulatedPlan& simulated, std::size_t stage, std::int64_t repeats) {
  std::vector<Segment> in_order;
  std::vector<Segment> alongside;
  for_each_execution(simulated, stage, repeats, [&](const Execution& execution) {
    const Action& action = simulated.program.ranks[stage].actions[static_cast<std::size_t>(execution.action)];
    if (sent_by(action) != nullptr || execution.span.length() == Picoseconds(0)) return;
    (action.issue == Issue::in_order ? in_order : alongside).push_back(segment_of(action, execution));
  });
  std::stable_sort(in_order.begin(), in_order.end(), starts_earlier);
  std::stable_sort(alongside.begin(), alongside.end(), starts_earlier);
  Lane lane{"stage " + std::to_string(stage), merged(in_order, alongside, simulated.simulation.timeline.end), {}};
  if (repeats == 0 && simulated.simulation.left_out.micro_batches > 0)
    lane.left_out = gap(simulated.simulation.left_out, simulated.simulation.timeline, stage);
  return lane;
}

Lane measured_lane(const RankRecord& rank) {
  constexpr std::int64_t picoseconds_per_nanosecond = 1000;
  std::vector<Segment> compute;
  std::vector<Segment> alongside;
  Picoseconds end(0);
  for (const ActionRecord& action : rank.actions) {
    if (is_send(action.kind) || action.end_ns <= action.start_ns) continue;
    const Span span{Picoseconds(picoseconds_per_nanosecond * action.start_ns),
                    Picoseconds(picoseconds_per_nanosecond * action.end_ns)};
    end = std::max(end, span.end);
    (action.stream == Stream::compute ? compute : alongside)
        .push_back({span, activity_of(action.kind), -1, action.micro_batch});
  }
  std::stable_sort(compute.begin(), compute.end(), starts_earlier);
  std::stable_sort(alongside.begin(), alongside.end(), starts_earlier);
  return {"measured", merged(compute, alongside, end), {}};
}

std::int64_t repeats_of(const SimulatedPlan& simulated) {
  return shows_all(simulated) ? simulated.simulation.left_out.repeats : 0;
}

/// Puts each segment into the first lane that is free then.
void part_into_lanes(const std::string& name, std::vector<Segment>& segments, std::vector<Lane>& lanes) {
  std::stable_sort(segments.begin(), segments.end(), starts_earlier);
  const std::size_t first = lanes.size();
  for (const Segment& segment : segments) {
    std::size_t lane = first;
    while (lane < lanes.size() && lanes[lane].segments.back().span.end > segment.span.start) ++lane;
    if (lane == lanes.size()) lanes.push_back({name, {}, {}});
    append(lanes[lane].segments, segment);
  }
}

}  // namespace

bool shows_all(const SimulatedPlan& simulated) { return execution_count(simulated) <= most_segments; }

std::vector<Lane> stage_lanes(const SimulatedPlan& simulated) {
  std::vector<Lane> lanes;
  for (std::size_t stage = 0; stage < simulated.program.ranks.size(); ++stage)
    lanes.push_back(stage_lane(simulated, stage, repeats_of(simulated)));
  return lanes;
}

std::vector<Lane> stream_lanes(const SimulatedPlan& simulated, std::size_t stage) {
  std::array<std::vector<Segment>, stream_count> of_stream;
  for_each_execution(simulated, stage, repeats_of(simulated), [&](const Execution& execution) {
    const Action& action = simulated.program.ranks[stage].actions[static_cast<std::size_t>(execution.action)];
    if (execution.span.length() > Picoseconds(0))
      of_stream[static_cast<std::size_t>(action.stream())].push_back(segment_of(action, execution));
  });
  std::vector<Lane> lanes;
  for (std::size_t stream = 0; stream < stream_count; ++stream)
    part_into_lanes(std::string(to_text(static_cast<Stream>(stream))), of_stream[stream], lanes);
  return lanes;
}

std::vector<Lane> measured_lanes(const RunRecord& record, std::size_t stages) {
  std::vector<Lane> lanes;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const auto rank = std::find_if(record.ranks.begin(), record.ranks.end(),
                                   [&](const RankRecord& one) { return static_cast<std::size_t>(one.stage) == stage; });
    if (rank == record.ranks.end() || record.traced_step < 0) return {};
    lanes.push_back(measured_lane(*rank));
  }
  return lanes;
}

std::size_t first_after(const Lane& lane, double time) {
  const auto found = std::partition_point(lane.segments.begin(), lane.segments.end(), [&](const Segment& segment) {
    return static_cast<double>(segment.span.end.value()) <= time;
  });
  return static_cast<std::size_t>(found - lane.segments.begin());
}

const Segment* segment_at(const Lane& lane, double time) {
  const std::size_t index = first_after(lane, time);
  if (index == lane.segments.size()) return nullptr;
  const Segment& segment = lane.segments[index];
  return static_cast<double>(segment.span.start.value()) <= time ? &segment : nullptr;
}

}  // namespace plumbline::gui
