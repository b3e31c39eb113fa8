#pragma once
/// \file launchable.h: for which framework a search looks, and what of its question that framework cannot launch.
///
/// Model: the framework that was asked for; else that of the software stack, named or usual (default_stack.h), or,
/// where that trains no adapters and adapters are asked for, Accelerate, which PEFT's are launched with. Where nobody
/// asked for a framework and the question or a fixed axis asks for what the usual one cannot launch, the search looks
/// for any. Where nobody named a stack, that of the framework's current releases prices the plans. Checked against:
/// tests/unit/planner/session/framework_search_test.cpp.

#include <optional>
#include <string>
#include <vector>

#include "planner/frameworks/framework.h"
#include "planner/search/space.h"

namespace plumbline::session {

struct FrameworkChoice {
  Framework framework = Framework::any;
  bool is_asked_for = false;
  std::string why;     ///< this one, where nobody asked: "the stack's framework", or a sentence
  std::string lifted;  ///< a sentence: why the usual framework's limits do not hold; or empty
};

/// Of the network as it is trained, with what the question's stack adds.
[[nodiscard]] NetworkFacts network_facts_of(const Question& question);
/// Throws InputError where the framework that was asked for cannot launch the network or what is asked for by name.
[[nodiscard]] FrameworkChoice chosen_framework(std::optional<Framework> asked, const std::vector<Question>& questions,
                                               const SearchSpace& space, StageSplit split);
/// What was asked with the stack of the framework's current releases, where it names none and another would price one
/// of the questions. A computer's cores run this program's own runtime, whatever the framework. `questions`: what was
/// asked, priced as usual.
[[nodiscard]] std::optional<QuestionText> priced_as_current(QuestionText asked, Framework framework,
                                                            const std::vector<Question>& questions);
/// Whether no question has a plan in the space, legal or not.
[[nodiscard]] bool is_empty(const SearchSpace& space, const std::vector<Question>& questions);
/// The space without what the framework cannot launch.
[[nodiscard]] SearchSpace launchable(SearchSpace space, Framework framework, const Question& question);

}  // namespace plumbline::session
