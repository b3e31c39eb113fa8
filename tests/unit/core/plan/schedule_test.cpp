// Records of schedules against the orders that core/program makes for them.
#include "core/plan/schedule.h"

#include <algorithm>
#include <set>

#include "core/program/compute_schedule.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

constexpr std::int32_t ranks = 4;

/// A shape that the record allows, of more micro-batches than warm-ups have.
PipelineShape shape_of(const ScheduleRecord& record) {
  const std::int32_t chunks = record.chunks == RankChunks::one ? 1 : 2;
  return {record.schedule == Schedule::none ? 1 : ranks, chunks, 4 * ranks};
}

struct Counts {
  int whole = 0;
  int split = 0;
  bool mixes = false;  ///< whether a forward follows a backward
};

Counts counts_of(const RankOrder& order) {
  Counts counts;
  for (const ComputeAction& a : order) {
    counts.whole += a.kind == ActionKind::backward ? 1 : 0;
    counts.split += a.kind == ActionKind::backward_input ? 1 : 0;
    counts.mixes = counts.mixes || (a.kind == ActionKind::forward && counts.whole + counts.split > 0);
  }
  return counts;
}

TEST_CASE("a schedule's record says which backwards its order splits, and whether its passes alternate") {
  for (const ScheduleRecord& record : schedule_records) {
    const ComputeSchedule made = compute_schedule(record.schedule, shape_of(record));
    INFO(record.name);
    CHECK(made.placement == record.placement);
    bool mixes = false;
    for (const RankOrder& order : made.ranks) {
      const Counts counts = counts_of(order);
      mixes = mixes || counts.mixes;
      CHECK((counts.split > 0) == (record.splits != SplitBackwards::none));
      CHECK((counts.whole > 0) == (record.splits != SplitBackwards::all));
    }
    CHECK(mixes == (record.passes == PassOrder::alternating));
  }
}

TEST_CASE("a shape outside of a schedule's record has a fault") {
  for (const ScheduleRecord& record : schedule_records) {
    if (record.schedule == Schedule::none) continue;
    INFO(record.name);
    const PipelineShape shape = shape_of(record);
    const auto fault = [&](std::int64_t chunks, std::int64_t micro_batches) {
      return schedule_fault(record.schedule, ranks, chunks, micro_batches).has_value();
    };
    CHECK_FALSE(fault(shape.virtual_stages, shape.micro_batches));
    CHECK(fault(1, shape.micro_batches) == (record.chunks != RankChunks::one));
    CHECK(fault(2, shape.micro_batches) == (record.chunks == RankChunks::one));
    CHECK(fault(3, shape.micro_batches) == (record.chunks != RankChunks::several));
    CHECK(fault(shape.virtual_stages, ranks + 1) == (record.micro_batches != MicroBatchCount::any));
    CHECK(fault(shape.virtual_stages, 2 * ranks + 1) == (record.micro_batches == MicroBatchCount::multiple_of_ranks));
  }
}

TEST_CASE("schedules have names of their own that read back") {
  std::set<std::string_view> names;
  for (const Schedule schedule : all_schedules) {
    names.insert(to_text(schedule));
    CHECK(schedule_from_text(to_text(schedule)) == schedule);
  }
  CHECK(names.size() == all_schedules.size());
  CHECK_FALSE(schedule_from_text("1F1B"));
}

}  // namespace
}  // namespace plumbline
