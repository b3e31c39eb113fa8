// What a stage holds at every instant: the peak and the buffers of the session's answer.
#include "gui/pages/timeline/memory_track.h"

#include "gui/pages/timeline/memory_columns.h"
#include "planner/session/simulate/simulate.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"

namespace plumbline::gui {
namespace {

SimulatedPlan simulated_plan(std::int64_t global_batch, std::int32_t zero_stage) {
  AskedPlan asked = pipelined();
  asked.global_batch = global_batch;
  asked.strategy.zero_stage = zero_stage;
  return session::simulate(priced(asked)->answer)->simulated;
}

Bytes sum_of(const std::vector<Buffer>& buffers) {
  Bytes sum(0);
  for (const Buffer& buffer : buffers) sum += buffer.bytes;
  return sum;
}

void require_peaks(const SimulatedPlan& plan) {
  const std::vector<StageReport> reports = stage_reports(plan.program, plan.simulation);
  for (std::size_t stage = 0; stage < reports.size(); ++stage) {
    const MemoryTrack track = memory_track(plan, stage);
    const MemorySample& peak = track.samples[track.peak];
    const MemoryBreakdown& expected = plan.simulation.memory[stage].memory;
    CHECK(peak.memory.device_total() == expected.device_total() - expected[MemoryClass::fragmentation]);
    for (const MemorySample& sample : track.samples) CHECK(sample.memory.device_total() <= peak.memory.device_total());
    const std::vector<Buffer> alive = buffers_at(plan, stage, peak);
    REQUIRE(alive.size() == reports[stage].alive.size());
    for (std::size_t i = 0; i < alive.size(); ++i) {
      CHECK(alive[i].bytes == reports[stage].alive[i].bytes);
      CHECK(alive[i].micro_batch == reports[stage].alive[i].micro_batch);
    }
  }
}

TEST_CASE("the peak of a track and what is alive then are the session's") {
  require_peaks(simulated_plan(32, 0));
  require_peaks(simulated_plan(800, 0));
  require_peaks(simulated_plan(32, 3));
}

TEST_CASE("the buffers at any instant sum to what the track holds then") {
  const SimulatedPlan plan = simulated_plan(32, 0);
  const MemoryTrack track = memory_track(plan, 1);
  REQUIRE(track.samples.size() > 20);
  for (std::size_t i = 0; i < track.samples.size(); i += 7)
    CHECK(sum_of(buffers_at(plan, 1, track.samples[i])) == track.samples[i].memory.device_total());
}

TEST_CASE("samples are ordered by time, and found by it") {
  const SimulatedPlan plan = simulated_plan(32, 3);
  const MemoryTrack track = memory_track(plan, 0);
  for (std::size_t i = 1; i < track.samples.size(); ++i) CHECK(track.samples[i - 1].at <= track.samples[i].at);
  CHECK(sample_at(track, -1) == 0);
  CHECK(sample_at(track, 1e30) == track.samples.size() - 1);
}

TEST_CASE("a pixel column shows the most that is held in it") {
  const SimulatedPlan plan = simulated_plan(32, 0);
  const MemoryTrack track = memory_track(plan, 0);
  const TimeWindow whole(static_cast<double>(plan.simulation.timeline.end.value()));
  const std::vector<std::size_t> one = memory_columns(track, whole, 1);
  CHECK(track.samples[one.front()].memory.device_total() == track.samples[track.peak].memory.device_total());
  const std::vector<std::size_t> many = memory_columns(track, whole, 500);
  REQUIRE(many.size() == 500);
  CHECK(std::is_sorted(many.begin(), many.end()));
}

}  // namespace
}  // namespace plumbline::gui
