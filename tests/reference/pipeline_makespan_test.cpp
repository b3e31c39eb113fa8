// Makespans of pipeline schedules against instances solved by event simulation and by longest path.

#include "tests/pipeline_makespan.h"
#include "core/cost/pipeline_time.h"
#include "core/plan/pipeline_schedule.h"
#include "tests/catch.h"
#include "tests/test_rows.h"

namespace plumbline {
namespace {

std::vector<Picoseconds> times(const std::vector<std::int64_t>& units) {
  std::vector<Picoseconds> result;
  for (const std::int64_t unit : units) result.emplace_back(unit);
  return result;
}

TEST_CASE("makespans of GPipe, 1F1B and interleaved 1F1B are those of the solved instances") {
  TestRows file("pipeline_makespans.json");
  REQUIRE(file.rows().size() == 11);
  for (JsonObject& row : file.rows()) {
    const std::int64_t virtual_stages = count_at(row, "virtual_stages");
    const std::int64_t micro_batches = count_at(row, "micro_batches");
    const std::vector<Picoseconds> forward = times(counts_at(row, "forward"));
    const std::vector<Picoseconds> backward = times(counts_at(row, "backward"));
    const std::vector<Picoseconds> latency = times(counts_at(row, "latency"));
    const PipelineTimes instance{forward, backward, latency, {}, latency.back()};
    const auto schedule = schedule_from_text(row.at("schedule").string());
    REQUIRE(schedule);
    const std::int64_t predicted = pipeline_makespan(*schedule, instance, micro_batches, virtual_stages).value();
    const std::int64_t published = count_at(row, "makespan");
    INFO(row.at("id").string() << ": predicted " << predicted << ", solved " << published);
    if (row.at("exact").boolean()) {
      CHECK(predicted == published);
    } else {
      CHECK(predicted >= published);  // the oracle's messages occupy nobody; later chunks here wait them out
    }
  }
}

// Textbook formula for equal stages without latency: (m + p - 1) (f + b); interleaved: m (f + b) + (p - 1)(f + b)/v.
TEST_CASE("equal stages take the textbook makespan") {
  constexpr std::int64_t p = 4;
  constexpr std::int64_t m = 16;
  const std::vector<Picoseconds> forward(p, Picoseconds(2));
  const std::vector<Picoseconds> backward(p, Picoseconds(4));
  const std::vector<Picoseconds> latency(p - 1);
  const std::vector<Picoseconds> chunk_forward(2 * p, Picoseconds(1));
  const std::vector<Picoseconds> chunk_backward(2 * p, Picoseconds(2));
  const PipelineTimes instance{forward, backward, latency};
  const PipelineTimes halves{chunk_forward, chunk_backward, latency};
  CHECK(pipeline_makespan(Schedule::gpipe, instance, m, 1) == Picoseconds((m + p - 1) * 6));
  CHECK(pipeline_makespan(Schedule::one_f_one_b, instance, m, 1) == Picoseconds((m + p - 1) * 6));
  CHECK(pipeline_makespan(Schedule::interleaved, halves, m, 2) == Picoseconds(m * 6 + (p - 1) * 3));
}

// p 4, m 16, forward 1 and backward 2: 57 with 1F1B, 52.5 with two virtual stages (half units here).
TEST_CASE("interleaving shortens the bubble as the published simulation says") {
  const std::vector<Picoseconds> forward(4, Picoseconds(2));
  const std::vector<Picoseconds> backward(4, Picoseconds(4));
  const std::vector<Picoseconds> latency(3);
  const std::vector<Picoseconds> chunk_forward(8, Picoseconds(1));
  const std::vector<Picoseconds> chunk_backward(8, Picoseconds(2));
  CHECK(pipeline_makespan(Schedule::one_f_one_b, {forward, backward, latency}, 16, 1) == Picoseconds(2 * 57));
  CHECK(pipeline_makespan(Schedule::interleaved, {chunk_forward, chunk_backward, latency}, 16, 2) == Picoseconds(105));
}

std::vector<std::int64_t> in_flight(Schedule schedule, std::int32_t stages, std::int64_t micro_batches,
                                    std::int32_t virtual_stages) {
  Strategy s;
  s.schedule = schedule;
  s.pipeline_stages = stages;
  s.micro_batches = micro_batches;
  s.virtual_stages = virtual_stages;
  std::vector<std::int64_t> result;
  for (std::int32_t rank = 0; rank < stages; ++rank) result.push_back(chunks_in_flight(s, rank));
  return result;
}

TEST_CASE("ranks keep the published numbers of chunks in flight") {
  using Counts = std::vector<std::int64_t>;
  CHECK(in_flight(Schedule::one_f_one_b, 4, 16, 1) == Counts{4, 3, 2, 1});
  CHECK(in_flight(Schedule::interleaved, 4, 16, 2) == Counts{11, 9, 7, 5});
  CHECK(in_flight(Schedule::gpipe, 4, 16, 1) == Counts{16, 16, 16, 16});
  // Fewer micro-batches than a rank would keep: all of them.
  CHECK(in_flight(Schedule::one_f_one_b, 4, 2, 1) == Counts{2, 2, 2, 1});
  CHECK(in_flight(Schedule::interleaved, 4, 4, 2) == Counts{8, 8, 7, 5});
}

}  // namespace
}  // namespace plumbline
