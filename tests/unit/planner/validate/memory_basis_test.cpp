// A memory figure is compared with the bytes, unit and rank that its source counts.

#include "planner/validate/memory_basis.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

/// Two stages: 10 and 20 bytes alive, 1 and 2 lost in the allocator, 100 of context on each.
Prediction two_stages() {
  Prediction prediction;
  for (const std::int64_t scale : {1, 2}) {
    MemoryBreakdown stage;
    stage[MemoryClass::weights] = Bytes(10 * scale);
    stage[MemoryClass::fragmentation] = Bytes(scale);
    stage[MemoryClass::framework_and_context] = Bytes(100);
    prediction.stage_memory.push_back(stage);
  }
  return prediction;
}

}  // namespace

TEST_CASE("the basis decides which bytes, the rank whose") {
  const Prediction p = two_stages();
  CHECK(predicted_bytes(p, {0, MemoryBasis::allocated, MemoryRank::heaviest}) == 20);
  CHECK(predicted_bytes(p, {0, MemoryBasis::reserved, MemoryRank::heaviest}) == 22);
  CHECK(predicted_bytes(p, {0, MemoryBasis::device_total, MemoryRank::heaviest}) == 122);
  CHECK(predicted_bytes(p, {0, MemoryBasis::allocated, MemoryRank::first}) == 10);
  CHECK(predicted_bytes(p, {0, MemoryBasis::reserved, MemoryRank::last}) == 22);
}

TEST_CASE("a key that carries unit and basis needs no field, a printed GB does") {
  RunFields fields;
  fields.words["memory_basis"] = "reserved";
  fields.words["memory_rank"] = "last";
  RunMeasurement measured;
  CHECK_FALSE(memory_figure(measured, fields));
  measured.memory_gb_as_published = 2;
  CHECK(memory_figure(measured, fields)->bytes == 2.0 * 1024 * 1024 * 1024);
  CHECK(memory_figure(measured, fields)->basis == MemoryBasis::reserved);
  CHECK(memory_figure(measured, fields)->rank == MemoryRank::last);
  fields.words["memory_unit"] = "GB";
  CHECK(memory_figure(measured, fields)->bytes == 2e9);
  measured.memory_max_allocated_bytes = 7;
  CHECK(memory_figure(measured, fields)->bytes == 7);
  CHECK(memory_figure(measured, fields)->basis == MemoryBasis::allocated);
}

}  // namespace plumbline
