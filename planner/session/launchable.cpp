#include "planner/session/launchable.h"

#include "core/base/errors.h"
#include "models/calibration_catalog.h"
#include "planner/question/default_stack.h"

namespace plumbline::session {
namespace {

bool has_experts(const Question& question) { return !question.facts().experts.empty(); }

FrameworkChoice usual_framework(const Question& question) {
  const Framework own = framework_of_stack(CalibrationSet::shipped().software_stack(question.text().stack).framework);
  const bool adapts = question.training().adaptation.lora_rank > 0;
  if (own == Framework::any || !adapts || !record_of(own).adapters.empty())
    return {own, false, "the stack's framework", {}};
  return {Framework::accelerate, false, std::string(record_of(own).title) + " trains no adapters", {}};
}

/// Something asked for by name that cannot be launched.
struct Missing {
  const char* where;
  std::string sentence;
  const char* expected;
};

std::optional<Missing> first_missing(const char* where, const std::vector<std::string>& sentences,
                                     const char* expected) {
  if (sentences.empty()) return std::nullopt;
  return Missing{where, sentences.front(), expected};
}

std::optional<Missing> missing(Framework framework, const std::vector<Question>& questions, const SearchSpace& space,
                               StageSplit split) {
  for (const Question& question : questions)
    if (auto one = first_missing("--for", inexpressible(framework, question.training()),
                                 "another framework, or another recipe"))
      return one;
  const auto check = [&](const char* where, const Strategy& strategy) {
    return first_missing(where, inexpressible(framework, strategy, false), "another value, or another framework");
  };
  Strategy alone;
  for (const Schedule schedule : space.schedules) {
    alone.schedule = schedule;
    if (auto one = check("--fix schedule", alone)) return one;
  }
  alone = {};
  for (const Recompute& recompute : space.recompute) {
    alone.recompute = recompute;
    if (auto one = check("--fix recompute", alone)) return one;
  }
  alone = {};
  alone.split = split;
  return check("--split", alone);
}

bool is_empty(const SearchSpace& space, const std::vector<Question>& questions) {
  std::int64_t plans = 0;
  const StopRequest at_first([&] { return plans > 0; });
  for (const Question& question : questions)
    SpaceEnumerator(question, space)
        .for_each_family([&](const Strategy&, const Violation*, std::int64_t leaves) { plans += leaves; }, at_first);
  return plans == 0;
}

}  // namespace

std::optional<QuestionText> priced_as_current(QuestionText asked, Framework framework, const Question& question) {
  if (!asked.stack.empty() || framework == Framework::any) return std::nullopt;
  const FrameworkRecord& record = record_of(framework);
  if (usual_stack(question.cluster()) != default_stack || record.current_stack == default_stack) return std::nullopt;
  asked.stack = std::string(record.current_stack);
  const bool has_record =
      framework_of_stack(CalibrationSet::shipped().software_stack(asked.stack).framework) == framework;
  if (!has_record && !asked.training.gradient_format && record.defaults.gradient == NumberFormat::fp32)
    asked.training.gradient_format = NumberFormat::fp32;
  return asked;
}

SearchSpace launchable(SearchSpace space, Framework framework, const Question& question) {
  space.has_split_backwards = true;
  if (framework == Framework::any) return space;
  space.admits = [&record = record_of(framework), experts = has_experts(question)](const Strategy& strategy) {
    return launches(record, strategy, experts);
  };
  return space;
}

FrameworkChoice chosen_framework(std::optional<Framework> asked, const std::vector<Question>& questions,
                                 const SearchSpace& space, StageSplit split) {
  FrameworkChoice choice = asked ? FrameworkChoice{*asked, true, {}, {}} : usual_framework(questions.front());
  const auto refused = missing(choice.framework, questions, space, split);
  if (asked) {
    if (refused) throw InputError({refused->where, refused->sentence, refused->expected, ""});
    return choice;
  }
  if (choice.framework == Framework::any) return choice;
  if (refused)
    choice.lifted = refused->sentence;
  else if (is_empty(launchable(space, choice.framework, questions.front()), questions))
    choice.lifted = std::string(record_of(choice.framework).title) + " launches no plan with the fixed values";
  if (!choice.lifted.empty()) choice.framework = Framework::any;
  return choice;
}

}  // namespace plumbline::session
