#pragma once
/// \file command_line.h: torchtitan's command line: fields of its configuration as flags, and what starts it.
///
/// "--parallelism.tensor_parallel_degree 4" is [parallelism] tensor_parallel_degree = 4, '-' in a name is '_', and a
/// flag counts for more than the file. NGPU, CONFIG_FILE and torchrun's flags say what run_train.sh makes of them.
/// Source: run_train.sh and torchtitan/config/manager.py at v0.2.2.
/// Checked against: tests/unit/planner/frameworks/torchtitan/command_line_test.cpp.

#include <string_view>

#include "core/io/json.h"
#include "planner/frameworks/launch/launch_target.h"

namespace plumbline::torchtitan {

struct CommandLine {
  Json tree = Json(Json::Object{});  ///< of the configuration's fields
  Imported imported;                 ///< GPUs, and what the other flags are
};

/// Throws InputError (`name`) as read_arguments.
[[nodiscard]] CommandLine read_command_line(std::string_view text, std::string_view name);

/// `tree` with the fields of `more` in place of its own.
[[nodiscard]] Json with_fields(const Json& tree, const Json& more);

}  // namespace plumbline::torchtitan
