#include "core/measurement/run_rules.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/measurement/run_fields.h"

namespace plumbline {
namespace {

bool same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool equals_from_start(std::string_view text, std::string_view pattern) {
  return text.size() >= pattern.size() && std::equal(pattern.begin(), pattern.end(), text.begin(), same);
}

bool matches(std::string_view text, std::string_view pattern) {
  if (pattern.starts_with('!')) return !text.empty() && !matches(text, pattern.substr(1));
  if (pattern.ends_with('*')) return equals_from_start(text, pattern.substr(0, pattern.size() - 1));
  return text.size() == pattern.size() && equals_from_start(text, pattern);
}

bool is_number(std::string_view key) {
  return std::any_of(run_number_fields.begin(), run_number_fields.end(),
                     [&](const RunNumberField& field) { return field.key == key; });
}

void set(RunFields& fields, const std::string& key, const std::string& value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (is_number(key) && error == std::errc() && end == value.data() + value.size())
    fields.numbers[key] = number;
  else
    fields.words[key] = value;
}

constexpr std::string_view reading = "_as";

/// The fields that a rule assumes though a run says them already. What such a field is understood as ("recompute_as")
/// goes with the assumption, unless the rule is about the field's text.
std::vector<std::string> needless_fields(const RunRule& rule, const RunFields& fields,
                                         const std::set<std::string, std::less<>>& unverified) {
  std::vector<std::string> needless;
  for (const auto& [field, value] : rule.then) {
    const bool is_open = !fields.has(field) || (rule.over_unverified && unverified.contains(field));
    const bool is_asked = std::any_of(rule.when.begin(), rule.when.end(),
                                      [&, &key = field](const RunCondition& c) { return c.field == key; });
    if (!is_open && !is_asked) needless.push_back(field + std::string(reading));
  }
  return needless;
}

}  // namespace

std::string field_text(const RunFields& fields, std::string_view key) {
  if (const auto number = fields.number(key)) return std::to_string(*number);
  return fields.word(key);
}

bool holds(const RunRule& rule, const RunFields& fields) {
  return std::all_of(rule.when.begin(), rule.when.end(), [&](const RunCondition& condition) {
    const std::string text = field_text(fields, condition.field);
    return std::any_of(condition.values.begin(), condition.values.end(),
                       [&](const std::string& pattern) { return matches(text, pattern); });
  });
}

RuledRun apply(const std::vector<RunRule>& rules, RuledRun run, const std::set<std::string, std::less<>>& unverified) {
  for (const RunRule& rule : rules) {
    if (!holds(rule, run.fields)) continue;
    if (!rule.skip.empty() && run.skip.empty()) run.skip = rule.skip;
    const std::vector<std::string> needless = needless_fields(rule, run.fields, unverified);
    for (const auto& [field, value] : rule.then) {
      if (std::find(needless.begin(), needless.end(), field) != needless.end()) continue;
      const bool decided = std::any_of(run.assumed.begin(), run.assumed.end(),
                                       [&, &key = field](const AssumedField& a) { return a.field == key; });
      const bool open = !run.fields.has(field) || (rule.over_unverified && unverified.contains(field));
      if (decided || !open) continue;
      set(run.fields, field, value);
      run.assumed.push_back({field, value, rule.source});
    }
  }
  return run;
}

}  // namespace plumbline
