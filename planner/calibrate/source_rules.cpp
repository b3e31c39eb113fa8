#include "planner/calibrate/source_rules.h"

#include <algorithm>

#include "planner/validate/run_strategy.h"

namespace plumbline {
namespace {

/// Before a name, so that no rule's pattern matches it and different names stay different.
constexpr const char* unknown_prefix = "(unknown) ";

bool says_what_a_run_is_worth(const RunRule& rule) {
  return !rule.skip.empty() || std::any_of(rule.then.begin(), rule.then.end(),
                                           [](const auto& decided) { return decided.first == "doubtful"; });
}

void drop(std::vector<RunRule>& rules) {
  std::erase_if(rules, [](const RunRule& rule) { return !says_what_a_run_is_worth(rule); });
}

bool names_software(const RunRule& rule) {
  return std::any_of(rule.when.begin(), rule.when.end(), [](const RunCondition& condition) {
    return condition.field == "framework" || condition.field == "release";
  });
}

bool applies_to_any(const RunRule& rule, const RunSet& set) {
  return std::any_of(set.runs.begin(), set.runs.end(), [&](const MeasuredRun& run) {
    RunFields fields = with_algebra(run.question.fields);
    fields.words["id"] = run.question.id;
    fields.words["rows"] = set.name;
    return holds(rule, fields);
  });
}

}  // namespace

RunSet without_own_rules(RunSet set) {
  drop(set.rules.meanings);
  drop(set.rules.assumptions);
  return set;
}

RunRuleTable without_rules_for(RunRuleTable table, const std::string& source, const std::vector<RunSet>& sets) {
  std::erase_if(table.rules, [&](const RunRule& rule) {
    if (says_what_a_run_is_worth(rule) || !names_software(rule)) return false;
    return std::none_of(sets.begin(), sets.end(), [&](const RunSet& set) {
      return set.name != source && !set.held_out && applies_to_any(rule, set);
    });
  });
  return table;
}

RunSet of_unknown_framework(RunSet set) {
  set = without_own_rules(std::move(set));
  for (MeasuredRun& run : set.runs)
    for (const char* key : {"framework", "release"})
      if (const std::string name = run.question.fields.word(key); !name.empty())
        run.question.fields.words[key] = unknown_prefix + name;
  return set;
}

}  // namespace plumbline
