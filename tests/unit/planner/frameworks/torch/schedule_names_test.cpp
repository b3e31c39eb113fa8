#include "planner/frameworks/torch/schedule_names.h"

#include "tests/catch.h"

namespace plumbline::torch {
namespace {

TEST_CASE("an order that PyTorch has a class for goes by the class's name, in any case") {
  CHECK(schedule_class(Schedule::interleaved) == "ScheduleInterleaved1F1B");
  CHECK(schedule_name(Schedule::interleaved) == "Interleaved1F1B");
  CHECK(schedule_named("interleaved1f1b") == Schedule::interleaved);
  for (const Schedule schedule : all_schedules)
    if (is_by_name(schedule)) CHECK(schedule_named(schedule_name(schedule)) == schedule);
}

TEST_CASE("an order by file goes by a name that places stages as it does") {
  CHECK(schedule_name(Schedule::zb_h2) == "PipelineScheduleMulti");
  CHECK(schedule_name(Schedule::v_half) == "ZBVZeroBubble");
  CHECK(schedule_name(Schedule::none) == "1F1B");
  CHECK(!schedule_named("PipelineScheduleMulti"));
}

TEST_CASE("a schedule's file names it") {
  CHECK(schedule_file(Schedule::zb_h2) == "schedule-zb-h2.csv");
  CHECK(schedule_of_file("orders/schedule-zb-h2.csv") == Schedule::zb_h2);
  for (const char* path : {"schedule-.csv", "schedule.csv", "schedule-mine.csv", "zb-h2.csv", ""})
    CHECK(!schedule_of_file(path));
}

TEST_CASE("a record lists every schedule of several stages once, by name or by file") {
  const auto listed = launchable_schedules(schedule_class, "by file", "a reader of files");
  REQUIRE(listed.size() + 1 == all_schedules.size());
  for (const Launchable<Schedule>& one : listed) {
    CHECK(one.value != Schedule::none);
    CHECK((one.spelling == "by file") == !is_by_name(one.value));
    CHECK((one.source == "a reader of files") == !is_by_name(one.value));
  }
}

}  // namespace
}  // namespace plumbline::torch
