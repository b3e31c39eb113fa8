#pragma once
/// \file strategy_flags.h: a strategy as the texts of its flags, read and refused in the same words by whoever asks.
///
/// The flags are those of core/plan/strategy_axes.h.
/// Checked against: tests/unit/planner/session/flags/plan_flags_test.cpp.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/plan/strategy_axes.h"
#include "planner/question/question.h"

namespace plumbline::session {

/// As they were given; what is absent is usual or follows from the question.
class StrategyFlags {
 public:
  StrategyFlags();

  /// The text of a flag, "--tp"; it must be one of a strategy.
  [[nodiscard]] std::optional<std::string>& operator[](std::string_view flag);
  [[nodiscard]] const std::optional<std::string>& operator[](std::string_view flag) const;

  /// Throws InputError naming the flag.
  [[nodiscard]] PartialStrategy strategy() const;
  /// A flag that was given; empty: none was.
  [[nodiscard]] std::string given() const;
  /// The same of those that launch files always say: not whether attention is fused.
  [[nodiscard]] std::string given_with_import() const;

 private:
  std::map<std::string_view, std::optional<std::string>> texts_;
};

/// Calls `visit(axis, text)` for each flag, in the order of help.
template <class Visit>
void for_each_flag(StrategyFlags& flags, const Visit& visit) {
  for (const StrategyAxis& axis : strategy_axes())
    if (!axis.flag.empty()) visit(axis, flags[axis.flag]);
}

}  // namespace plumbline::session
