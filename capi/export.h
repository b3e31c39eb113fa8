#pragma once
/// \file export.h: `plan export` as a use-case: launch files of a framework as values; nothing is written.

#include "planner/session/use_case/use_case.h"

namespace plumbline::capi {

/// Its JSON is {"title", "release", "files": [{"name", "text", "is_executable"}], "substitutions": [{"sentence",
/// "change"}], "not_said", "assumptions"}; its plan what the files say, where that is not the plan itself.
[[nodiscard]] session::UseCase export_use_case();

}  // namespace plumbline::capi
