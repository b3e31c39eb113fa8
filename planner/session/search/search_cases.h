#pragma once
/// \file search_cases.h: one question with several values of its parts: a search for each combination.
///
/// Of --model, --machine, --gpus, --seq-len, --global-batch and --stack several values stand apart by commas; `--stack
/// all` is every current release that trains the question (planner/question/default_stack.h), each for its framework.
/// A name that is also a file with commas in it is that file. Checked against:
/// tests/unit/planner/session/search/search_cases_test.cpp.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/session/question_flags.h"
#include "planner/session/search/search.h"

namespace plumbline::session {

inline constexpr std::size_t most_cases = 1000;

/// One part of a case's question where several values were given, and the framework of a stack of `--stack all`.
struct CaseValue {
  std::string part;  ///< "gpus": of the flag without its dashes
  std::string value;
  bool operator==(const CaseValue&) const = default;
};

/// "gpus 64, seq-len 8K".
[[nodiscard]] std::string label_of(const std::vector<CaseValue>& values);

struct SearchCase {
  std::vector<CaseValue> values;  ///< the same parts in every case
  SearchRequest request;
};

struct CaseAnswer {
  std::vector<CaseValue> values;
  std::optional<SearchAnswer> found;
  std::string reason;   ///< where no plan was found: why
  std::string warning;  ///< on names that could also be files; or empty

  /// The best, or null.
  [[nodiscard]] const Plan* plan() const { return found && !found->plans.empty() ? &found->plans.front() : nullptr; }
};

struct CasesAnswer {
  std::vector<CaseAnswer> rows;  ///< in the order of the cases; of several stacks the fastest first
  bool complete = true;          ///< false: it was stopped before the last

  [[nodiscard]] bool has_any() const;
};

/// Whether a flag of the question makes cases: --model, --gpus.
[[nodiscard]] bool makes_cases(std::string_view flag);
/// The question as often as its parts have values, with the rest of `options`; one case without values where each part
/// has one. Throws InputError for an empty or repeated value, for too many cases and for what no question is.
[[nodiscard]] std::vector<SearchCase> search_cases(const QuestionFlags& flags, const SearchRequest& options);

/// Each by itself: what one refuses is its row's reason. Progress is that of the searches, under the case's values.
[[nodiscard]] CasesAnswer search(const std::vector<SearchCase>& cases, const Task& task = {});

}  // namespace plumbline::session
