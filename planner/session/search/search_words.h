#pragma once
/// \file search_words.h: what a search looked through and refused, in sentences.
///
/// Checked against: tests/unit/planner/present/plan_words_test.cpp.

#include <string>
#include <vector>

#include "planner/session/search/search.h"

namespace plumbline::present {

/// "pricing 1 234 of 5 678, best step 62.6 s".
[[nodiscard]] std::string progress_words(const TaskProgress& progress);

/// "considered 1 234 = 200 illegal + ... + 17 priced".
[[nodiscard]] std::string audit_words(const SearchAudit& audit);
/// What was tried around the best plans beyond that space; empty: nothing was.
[[nodiscard]] std::string refinement_words(const SearchAudit& audit);
/// Each rule that refused plans, with how many and its sentence.
[[nodiscard]] std::vector<std::string> rejections(const SearchAudit& audit);

/// Which of the choices that were searched change what is learned, and not its speed alone; empty: none.
[[nodiscard]] std::string quality_words(const RecipeChoices& recipes);

/// Where several recipes were searched: which, and the best of each that the ranking does not show; empty: one was.
[[nodiscard]] std::vector<std::string> recipe_words(const session::SearchAnswer& answer);

/// "for Megatron-LM: the stack's framework (--for any lifts its limits)".
[[nodiscard]] std::string framework_words(const session::FrameworkChoice& choice);
/// "pytorch-2.9, measured next nearest, says step time +18 %"; empty: nothing.
[[nodiscard]] std::string next_stack_words(const std::optional<session::NextStack>& next);
/// What lifting the framework's limits would gain; empty: there are none, or it is not known.
[[nodiscard]] std::string limits_words(const session::SearchAnswer& answer);
/// "#1 to #8 are within the model's noise (5.2 %); simplest: #5. ..."; empty where plans are not ranked by time.
[[nodiscard]] std::string tie_words(const session::SearchAnswer& answer);

}  // namespace plumbline::present
