#include "planner/frameworks/torch/schedule_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace plumbline::torch {
namespace {

struct ScheduleClass {
  Schedule schedule;
  std::string_view name;
};

constexpr std::array classes{
    ScheduleClass{Schedule::gpipe, "ScheduleGPipe"}, ScheduleClass{Schedule::one_f_one_b, "Schedule1F1B"},
    ScheduleClass{Schedule::interleaved, "ScheduleInterleaved1F1B"},
    ScheduleClass{Schedule::zbv, "ScheduleZBVZeroBubble"}, ScheduleClass{Schedule::dualpipev, "ScheduleDualPipeV"}};

/// get_schedule_class takes the class's name without this.
constexpr std::string_view class_start = "Schedule";
constexpr std::string_view names_source = "torch/distributed/pipelining/schedules.py: get_schedule_class";

bool is_same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

constexpr std::string_view file_start = "schedule-";
constexpr std::string_view file_end = ".csv";

}  // namespace

std::string_view schedule_class(Schedule schedule) {
  for (const ScheduleClass& one : classes)
    if (one.schedule == schedule) return one.name;
  return "";
}

std::string_view schedule_name(Schedule schedule) {
  if (schedule == Schedule::none) return schedule_name(Schedule::one_f_one_b);  // of one stage
  if (is_by_name(schedule)) return schedule_class(schedule).substr(class_start.size());
  return placement(schedule) == StagePlacement::v_shaped ? schedule_name(Schedule::zbv) : "PipelineScheduleMulti";
}

std::optional<Schedule> schedule_named(std::string_view name) {
  for (const ScheduleClass& one : classes)
    if (is_same(one.name.substr(class_start.size()), name)) return one.schedule;
  return std::nullopt;
}

bool is_by_name(Schedule schedule) { return !schedule_class(schedule).empty(); }

bool takes_several_stages(std::string_view name) {
  return !is_same(name, "1F1B") && !is_same(name, "GPipe") && !is_same(name, "PipelineScheduleSingle");
}

std::string schedule_file(Schedule schedule) {
  return std::string(file_start) + std::string(to_text(schedule)) + std::string(file_end);
}

std::optional<Schedule> schedule_of_file(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  if (!name.starts_with(file_start) || !name.ends_with(file_end)) return std::nullopt;
  if (name.size() < file_start.size() + file_end.size()) return std::nullopt;
  return schedule_from_text(name.substr(file_start.size(), name.size() - file_start.size() - file_end.size()));
}

std::vector<Launchable<Schedule>> launchable_schedules(std::string_view (*by_name)(Schedule), std::string_view by_file,
                                                       std::string_view source_of_files) {
  std::vector<Launchable<Schedule>> all;
  for (const Schedule schedule : all_schedules) {
    if (schedule == Schedule::none) continue;
    if (is_by_name(schedule))
      all.push_back({schedule, by_name(schedule), names_source});
    else
      all.push_back({schedule, by_file, source_of_files});
  }
  return all;
}

}  // namespace plumbline::torch
