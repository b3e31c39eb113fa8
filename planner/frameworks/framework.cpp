#include "planner/frameworks/framework.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"

namespace plumbline {
namespace {

template <class Value>
bool has(const std::vector<Launchable<Value>>& list, Value value) {
  return std::any_of(list.begin(), list.end(), [&](const Launchable<Value>& one) { return one.value == value; });
}

/// "a, b and c".
std::string enumerated(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string text_of(Schedule schedule) { return std::string(to_text(schedule)); }
std::string text_of(PrecisionRecipe recipe) { return std::string(to_text(recipe)); }
std::string text_of(Optimizer optimizer) { return std::string(to_text(optimizer)); }
std::string text_of(std::int32_t zero_stage) { return "ZeRO-" + std::to_string(zero_stage); }
std::string text_of(RecomputeMode mode) { return mode_text(mode); }

template <class Value>
std::string all_of(const std::vector<Launchable<Value>>& list) {
  std::vector<std::string> names;
  for (const Launchable<Value>& one : list) names.push_back(text_of(one.value));
  return list.empty() ? "none" : enumerated(names);
}

FrameworkRecord with_missing(FrameworkRecord record) {
  for (const Feature feature : all_features)
    if (!has(record.features, feature)) record.missing.push_back(feature);
  return record;
}

/// `any` where there is none.
template <class Predicate>
Framework first_framework(Predicate is_meant) {
  for (const Framework framework : all_frameworks)
    if (framework != Framework::any && is_meant(record_of(framework))) return framework;
  return Framework::any;
}

/// One stage has no schedule, and every framework trains without a pipeline.
bool has_schedule(const FrameworkRecord& record, Schedule schedule) {
  return schedule == Schedule::none || has(record.schedules, schedule);
}

}  // namespace

std::string_view to_text(Framework framework) {
  switch (framework) {
    case Framework::any: return "any";
#define ROW(ID, NAME) \
  case Framework::ID: return NAME;
      PLUMBLINE_FRAMEWORKS(ROW)
#undef ROW
  }
  return "";
}

std::optional<Framework> framework_from_text(std::string_view text) { return value_named(all_frameworks, text); }

std::string mode_text(RecomputeMode mode) { return std::string(name_of(mode)); }

const FrameworkRecord& record_of(Framework framework) {
#define ROW(ID, NAME) with_missing(ID##_record()),
  static const std::array records{PLUMBLINE_FRAMEWORKS(ROW)};
#undef ROW
  check(framework != Framework::any, "any framework has no record");
  return records[static_cast<std::size_t>(framework) - 1];
}

Framework framework_of_stack(std::string_view name) {
  return first_framework([&](const FrameworkRecord& record) {
    return std::find(record.stacks.begin(), record.stacks.end(), name) != record.stacks.end();
  });
}

Framework own_framework() {
  return first_framework([](const FrameworkRecord& record) { return record.revision.empty(); });
}

Framework usual_of_adapters() {
  return first_framework([](const FrameworkRecord& record) { return record.is_usual_of_adapters; });
}

Framework last_resort() {
  return first_framework([](const FrameworkRecord& record) { return record.scope && record.scope->is_last_resort; });
}

std::optional<InputProblem> network_problem(Framework framework, const NetworkFacts& network) {
  if (framework == Framework::any || record_of(framework).network_problem == nullptr) return std::nullopt;
  auto problem = record_of(framework).network_problem(network);
  if (!problem) return std::nullopt;
  const bool is_of_recipe = problem->where == "--plan";
  problem->what =
      std::string(record_of(framework).title) + ": " + (is_of_recipe ? "" : problem->where + ": ") + problem->what;
  return problem;
}

bool launches(const FrameworkRecord& record, const Strategy& s, const NetworkFacts& network) {
  return has_schedule(record, s.schedule) && has(record.recompute, s.recompute.mode) &&
         has(record.zero_stages, s.zero_stage) &&
         std::none_of(record.missing.begin(), record.missing.end(),
                      [&](Feature feature) { return uses(feature, s); }) &&
         std::none_of(record.rules.begin(), record.rules.end(),
                      [&](const FrameworkRule& rule) { return rule.is_broken(s, network); });
}

std::vector<std::string> inexpressible(Framework framework, const Strategy& s, const NetworkFacts& network) {
  if (framework == Framework::any) return {};
  const FrameworkRecord& record = record_of(framework);
  const std::string name(record.title);
  std::vector<std::string> sentences;
  const auto is_said_before = [&](Feature feature) {
    return feature == Feature::head_exchange && !has(record.features, Feature::context_parallel);
  };
  for (const Feature feature : all_features)
    if (uses(feature, s) && !has(record.features, feature) && !is_said_before(feature))
      sentences.push_back(name + " has no " + std::string(to_text(feature)));
  if (has(record.features, Feature::pipeline) && !has_schedule(record, s.schedule))
    sentences.push_back(name + " has no schedule " + text_of(s.schedule) + "; it has " + all_of(record.schedules));
  if (!has(record.recompute, s.recompute.mode))
    sentences.push_back(name + " has no recompute " + to_text(s.recompute) + "; it has " + all_of(record.recompute));
  if (!has(record.zero_stages, s.zero_stage))
    sentences.push_back(name + " has no " + text_of(s.zero_stage) + "; it has " + all_of(record.zero_stages));
  for (const FrameworkRule& rule : record.rules)
    if (rule.is_broken(s, network))
      sentences.push_back(name + " " + std::string(rule.sentence) + " (" + std::string(rule.source) + ")");
  return sentences;
}

std::vector<std::string> inexpressible(Framework framework, const Training& training) {
  if (framework == Framework::any) return {};
  const FrameworkRecord& record = record_of(framework);
  const std::string name(record.title);
  std::vector<std::string> sentences;
  if (!has(record.precisions, training.precision))
    sentences.push_back(name + " has no precision " + text_of(training.precision) + "; it has " +
                        all_of(record.precisions));
  if (!record.optimizers.empty() && !has(record.optimizers, training.optimizer))
    sentences.push_back(name + " has no optimizer " + text_of(training.optimizer) + "; it has " +
                        all_of(record.optimizers));
  if (training.adaptation.lora_rank > 0 && record.adapters.empty())
    sentences.push_back(name + " trains no adapters (LoRA)");
  return sentences;
}

}  // namespace plumbline
