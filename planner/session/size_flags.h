#pragma once
/// \file size_flags.h: the limits and the site of a run that is sized, as the texts of its flags, refused in the same
/// words by whoever asks.
///
/// Checked against: tests/unit/planner/session/plan_flags_test.cpp, tests/integration/size_test.py.

#include <optional>
#include <string>
#include <vector>

#include "planner/session/option.h"
#include "planner/session/size.h"

namespace plumbline::session {

struct SizeFlags {
  std::optional<std::string> days, budget, scaling, pue, grid;

  /// Writes what was given into a request. Throws InputError naming the flag.
  void apply(SizeRequest& request) const;

 private:
  [[nodiscard]] std::vector<Scaling> scalings() const;
};

[[nodiscard]] const Options<SizeFlags>& size_options();

}  // namespace plumbline::session
