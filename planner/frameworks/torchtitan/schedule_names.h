#pragma once
/// \file schedule_names.h: pipeline schedules by the names that PyTorch gives them, and by file.
///
/// Source: torch/distributed/pipelining/schedules.py, get_schedule_class: any case; _PipelineScheduleRuntime reads
/// orders from CSV. torchtitan places stages in a V where the name is ZBVZeroBubble or DualPipeV, and looped otherwise.
/// Checked against: tests/unit/planner/frameworks/torchtitan/launch_files_test.cpp.

#include <optional>
#include <string>
#include <string_view>

#include "core/plan/schedule.h"

namespace plumbline::torchtitan {

/// "Interleaved1F1B". Of an order by file: a name whose placement is that order's.
[[nodiscard]] std::string name_of(Schedule schedule);
/// In any case; nothing for a name that we have no order for.
[[nodiscard]] std::optional<Schedule> schedule_named(std::string_view name);
/// Whether PyTorch has the order by name.
[[nodiscard]] bool is_by_name(Schedule schedule);
/// Whether the class that the name gives takes several stages of a rank.
[[nodiscard]] bool takes_several_stages(std::string_view name);
/// "schedule-zb-h1.csv", of an order by file.
[[nodiscard]] std::string schedule_file(Schedule schedule);
/// The way back, of a path.
[[nodiscard]] std::optional<Schedule> schedule_of_file(std::string_view path);

}  // namespace plumbline::torchtitan
