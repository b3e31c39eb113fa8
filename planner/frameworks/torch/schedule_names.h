#pragma once
/// \file schedule_names.h: pipeline schedules by the names that PyTorch gives them, and by file.
///
/// Model: what PyTorch has a class for goes by its name, every other order by file, under a name that places stages as
/// the order does: in a V where it is ZBVZeroBubble or DualPipeV, and looped otherwise.
/// Source: torch/distributed/pipelining/schedules.py, get_schedule_class: any case; _PipelineScheduleRuntime reads
/// orders from CSV.
/// Checked against: tests/unit/planner/frameworks/torch/schedule_names_test.cpp.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/schedule.h"
#include "planner/frameworks/framework.h"

namespace plumbline::torch {

/// "Interleaved1F1B". Of an order by file: a name whose placement is that order's.
[[nodiscard]] std::string_view schedule_name(Schedule schedule);
/// In any case; nothing for a name that we have no order for.
[[nodiscard]] std::optional<Schedule> schedule_named(std::string_view name);
/// "ScheduleInterleaved1F1B"; empty for an order by file.
[[nodiscard]] std::string_view schedule_class(Schedule schedule);
/// Whether PyTorch has the order by name.
[[nodiscard]] bool is_by_name(Schedule schedule);
/// Whether the class that the name gives takes several stages of a rank.
[[nodiscard]] bool takes_several_stages(std::string_view name);
/// "schedule-NAME.csv", of an order by file.
[[nodiscard]] std::string schedule_file(Schedule schedule);
/// The way back, of a path.
[[nodiscard]] std::optional<Schedule> schedule_of_file(std::string_view path);

/// All of them for a framework's record: `by_name` spells those that PyTorch has a name for, `by_file` the others.
[[nodiscard]] std::vector<Launchable<Schedule>> launchable_schedules(std::string_view (*by_name)(Schedule),
                                                                     std::string_view by_file,
                                                                     std::string_view source_of_files);

}  // namespace plumbline::torch
