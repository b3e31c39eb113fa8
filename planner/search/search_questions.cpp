// The questions of one search: for every precision, and for fewer devices where the objective allows them.

#include <bit>

#include "core/base/errors.h"
#include "planner/search/search.h"

namespace plumbline {
namespace {

/// Divisors of the count and powers of two, largest first: the counts that batches and layers usually divide over.
std::vector<std::int64_t> smaller_counts(std::int64_t devices) {
  std::vector<std::int64_t> counts;
  for (std::int64_t count = devices - 1; count >= 1; --count)
    if (devices % count == 0 || std::has_single_bit(static_cast<std::uint64_t>(count))) counts.push_back(count);
  return counts;
}

}  // namespace

std::vector<Question> search_questions(const QuestionText& text, const std::vector<PrecisionRecipe>& precisions,
                                       Objective objective) {
  std::vector<Question> questions;
  const bool may_use_fewer = objective == Objective::fewest_gpus || objective == Objective::tokens_per_dollar;
  for (const PrecisionRecipe precision : precisions) {
    QuestionText one = text;
    one.training.precision = precision;
    questions.emplace_back(one);
    if (!may_use_fewer) continue;
    for (const std::int64_t devices : smaller_counts(questions.back().devices())) {
      one.devices = devices;
      try {
        questions.emplace_back(one);
      } catch (const InputError&) {
        continue;  // this count leaves a node partly used
      }
    }
  }
  return questions;
}

}  // namespace plumbline
