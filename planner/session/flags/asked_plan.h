#pragma once
/// \file asked_plan.h: what `estimate`, `fit`, `explain` and `simulate` are asked about: flags, a plan or launch files.
///
/// Checked against: tests/python.

#include <optional>
#include <string>
#include <vector>

#include "planner/session/flags/plan_flags.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::session {

struct AskedPlan {
  PlanFlags flags;
  std::optional<std::string> from;  ///< whose the launch files are

  /// This must outlive what is bound.
  void bind(std::vector<BoundOption>& options);
  /// Reads the plan file or the launch files. Throws InputError naming the flag or the file.
  [[nodiscard]] EstimateRequest request(const Source& source, NoStrategy none = NoStrategy::plain) const;
};

/// Of a plan alone. Throws InputError where there is none.
[[nodiscard]] PlanRequest plan_request(const Source& source);

}  // namespace plumbline::session
