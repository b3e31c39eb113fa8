#pragma once
/// \file foreign_flags.h: what other programs call the flags of `plan`, so that a refusal names ours.
/// Checked against: tests/unit/planner/session/flags/plan_flags_test.cpp.

#include <string>
#include <vector>

namespace plumbline::session {

/// The one of `names` that means what `flag` does elsewhere, else the one that is spelt most like it; or nothing. A
/// verb that chooses what the flag says is told to hold it: "--fix tp=8".
[[nodiscard]] std::string nearest_flag(const std::string& flag, const std::vector<std::string>& names,
                                       const std::string& value = "");

}  // namespace plumbline::session
