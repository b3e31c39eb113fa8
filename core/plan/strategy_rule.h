#pragma once
/// \file strategy_rule.h: a rule on strategies. Those of one axis stand beside its row, those of several in
/// legality.cpp.

#include <optional>
#include <string>
#include <string_view>

namespace plumbline {

/// A rule by the id that tables and messages name it by, with the sentence that says what it asks. An id never changes
/// its meaning: users and files name it.
struct LegalityRule {
  std::string_view id;
  std::string_view sentence;
};

struct AskedStrategy;  // core/plan/asked_strategy.h

struct StrategyRule {
  LegalityRule rule;
  /// What of the strategy breaks the rule, with its numbers.
  std::optional<std::string> (*check)(const AskedStrategy& asked);
};

}  // namespace plumbline
