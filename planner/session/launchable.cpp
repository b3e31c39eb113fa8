#include "planner/session/launchable.h"

#include <algorithm>

#include "core/base/errors.h"
#include "models/calibration_catalog.h"

namespace plumbline::session {
namespace {

/// Of the questions of one search: what is nearest to the first and serves them all.
FrameworkChoice default_framework(const std::vector<Question>& questions) {
  const DefaultStack& usual = questions.front().usual_stack();
  const auto serves_all = [&](const StackCandidate& one) {
    return std::all_of(questions.begin(), questions.end(), [&](const Question& question) {
      const std::vector<StackCandidate>& own = question.usual_stack().candidates;
      return std::any_of(own.begin(), own.end(),
                         [&](const StackCandidate& other) { return other.framework == one.framework; });
    });
  };
  const auto common = std::find_if(usual.candidates.begin(), usual.candidates.end(), serves_all);
  if (common == usual.candidates.begin() || common == usual.candidates.end())
    return {usual.taken().framework, false, "the stack's framework", {}};
  return {common->framework, false, "it trains with every recipe that is asked about", {}};
}

FrameworkChoice usual_framework(const std::vector<Question>& questions) {
  const Question& question = questions.front();
  if (question.has_usual_stack()) return default_framework(questions);
  const Framework own = framework_of_stack(CalibrationSet::shipped().software_stack(question.text().stack).framework);
  const bool adapts = question.training().adaptation.lora_rank > 0;
  if (own == Framework::any || !adapts || !record_of(own).adapters.empty())
    return {own, false, "the stack's framework", {}};
  return {usual_of_adapters(), false, std::string(record_of(own).title) + " trains no adapters", {}};
}

/// Something asked for by name that cannot be launched.
struct Missing {
  const char* where;
  std::string sentence;
  std::string expected;
};

std::optional<Missing> first_missing(const char* where, const std::vector<std::string>& sentences,
                                     const char* expected) {
  if (sentences.empty()) return std::nullopt;
  return Missing{where, sentences.front(), expected};
}

/// The values of a fixed degree, where the framework launches the network with none of them.
std::optional<Missing> missing_degree(Framework framework, const NetworkFacts& network, const char* where,
                                      const std::vector<std::int32_t>& values, std::int32_t Strategy::*degree) {
  std::optional<Missing> first;
  for (const std::int32_t value : values) {
    Strategy alone;
    alone.*degree = value;
    if (value > 1) alone.sequence_parallel = SequenceParallel::on;
    auto one = first_missing(where, inexpressible(framework, alone, network), "another value, or another framework");
    if (!one) return std::nullopt;
    if (!first) first = std::move(one);
  }
  return first;
}

std::optional<Missing> missing(Framework framework, const std::vector<Question>& questions, const SearchSpace& space,
                               StageSplit split) {
  for (const Question& question : questions) {
    if (auto one = first_missing("--for", inexpressible(framework, question.training()),
                                 "another framework, or another recipe"))
      return one;
    if (auto problem = network_problem(framework, network_facts_of(question)))
      return Missing{"--for", std::move(problem->what), std::move(problem->expected)};
  }
  const auto check = [&](const char* where, const Strategy& strategy) {
    return first_missing(where, inexpressible(framework, strategy, NetworkFacts{}),
                         "another value, or another framework");
  };
  Strategy alone;
  for (const Schedule schedule : space.schedule) {
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
  if (auto one = check("--split", alone)) return one;
  const NetworkFacts network = network_facts_of(questions.front());
  if (auto one = missing_degree(framework, network, "--fix tp", space.tensor_parallel, &Strategy::tensor_parallel))
    return one;
  return missing_degree(framework, network, "--fix ep", space.expert_parallel, &Strategy::expert_parallel);
}

bool has_uneven_splits(const FrameworkRecord& record) {
  return std::any_of(record.features.begin(), record.features.end(),
                     [](const Launchable<Feature>& one) { return one.value == Feature::uneven_split; });
}

/// Whether it divides sequences by all-to-all and not by a ring.
bool has_head_exchange_alone(const FrameworkRecord& record, const Question& question) {
  const NetworkFacts network = network_facts_of(question);
  Strategy divided;
  divided.context_parallel = 2;
  if (launches(record, divided, network)) return false;
  divided.context_communication = ContextCommunication::all_to_all;
  return launches(record, divided, network);
}

}  // namespace

NetworkFacts network_facts_of(const Question& question) {
  NetworkFacts facts = network_facts(question.graph(), question.network().constants, question.training());
  facts.keeps_checkpoints_on_host =
      question.calibration().stack.features.layer_checkpoints == LayerCheckpoints::on_host;
  return facts;
}

std::optional<QuestionText> priced_as_current(QuestionText asked, Framework framework,
                                              const std::vector<Question>& questions) {
  if (!asked.stack.empty() || framework == Framework::any) return std::nullopt;
  if (questions.front().usual_stack().taken().framework == own_framework()) return std::nullopt;
  const std::string_view current = record_of(framework).current_stack;
  if (std::all_of(questions.begin(), questions.end(),
                  [&](const Question& question) { return question.usual_stack().taken().stack == current; }))
    return std::nullopt;
  asked.stack = std::string(current);
  return asked;
}

bool is_empty(const SearchSpace& space, const std::vector<Question>& questions) {
  std::int64_t plans = 0;
  const StopRequest at_first([&] { return plans > 0; });
  for (const Question& question : questions)
    SpaceEnumerator(question, space)
        .for_each_family([&](const Strategy&, const Violation*, std::int64_t leaves) { plans += leaves; }, at_first);
  return plans == 0;
}

SearchSpace launchable(SearchSpace space, Framework framework, const Question& question) {
  space.has_split_backwards = true;
  space.has_level_splits = framework == Framework::any || has_uneven_splits(record_of(framework));
  if (framework == Framework::any) return space;
  if (space.context_communication.empty() && has_head_exchange_alone(record_of(framework), question))
    space.context_communication = {ContextCommunication::all_to_all};
  space.allows = [&record = record_of(framework), network = network_facts_of(question)](const Strategy& strategy) {
    return launches(record, strategy, network);
  };
  return space;
}

FrameworkChoice chosen_framework(std::optional<Framework> asked, const std::vector<Question>& questions,
                                 const SearchSpace& space, StageSplit split) {
  FrameworkChoice choice = asked ? FrameworkChoice{*asked, true, {}, {}} : usual_framework(questions);
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
