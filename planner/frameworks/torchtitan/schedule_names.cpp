#include "planner/frameworks/torchtitan/schedule_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace plumbline::torchtitan {
namespace {

struct Named {
  Schedule schedule;
  std::string_view name;
  bool is_by_name;
};

constexpr std::array names{Named{Schedule::gpipe, "GPipe", true},
                           Named{Schedule::one_f_one_b, "1F1B", true},
                           Named{Schedule::interleaved, "Interleaved1F1B", true},
                           Named{Schedule::zbv, "ZBVZeroBubble", true},
                           Named{Schedule::dualpipev, "DualPipeV", true},
                           Named{Schedule::zb_h1, "PipelineScheduleMulti", false},
                           Named{Schedule::zb_h2, "PipelineScheduleMulti", false},
                           Named{Schedule::v_half, "ZBVZeroBubble", false}};

bool is_same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

constexpr std::string_view file_start = "schedule-";
constexpr std::string_view file_end = ".csv";

}  // namespace

std::string name_of(Schedule schedule) {
  for (const Named& one : names)
    if (one.schedule == schedule) return std::string(one.name);
  return "1F1B";  // of one stage
}

std::optional<Schedule> schedule_named(std::string_view name) {
  for (const Named& one : names)
    if (one.is_by_name && is_same(one.name, name)) return one.schedule;
  return std::nullopt;
}

bool is_by_name(Schedule schedule) {
  return std::any_of(names.begin(), names.end(),
                     [&](const Named& one) { return one.schedule == schedule && one.is_by_name; });
}

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

}  // namespace plumbline::torchtitan
