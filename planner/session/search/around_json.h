#pragma once
/// \file around_json.h: what to change of a plan ("plumbline.around/1", `plan search --around --json`); written only.
///
/// {"format","start":PLAN,"changes_at_most","framework","nearby":[CHANGE,...],"whole_space":CHANGE or null,"complete"},
/// CHANGE as of `plan explain --json`.
/// Checked against: tests/unit/planner/session/answers_json_test.cpp.

#include "core/io/json.h"
#include "planner/session/search/around.h"

namespace plumbline::session {

inline constexpr std::string_view around_format = "plumbline.around/1";

[[nodiscard]] Json to_json(const AroundAnswer& answer);

}  // namespace plumbline::session
