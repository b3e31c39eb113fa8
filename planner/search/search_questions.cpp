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

std::vector<QuestionText> texts_of(const QuestionText& text, const RecipeChoices& choices) {
  std::vector<QuestionText> texts;
  for (const PrecisionRecipe precision : choices.precisions)
    for (const Optimizer optimizer : choices.optimizers)
      for (const std::int64_t lora_rank : choices.lora_ranks) {
        QuestionText& one = texts.emplace_back(text);
        one.training.precision = precision;
        one.training.optimizer = optimizer;
        one.training.adaptation.lora_rank = lora_rank;
      }
  return texts;
}

}  // namespace

std::vector<Question> search_questions(const QuestionText& text, const std::vector<PrecisionRecipe>& precisions,
                                       Objective objective) {
  return search_questions(text, {precisions, {text.training.optimizer}, {text.training.adaptation.lora_rank}},
                          objective);
}

std::vector<Question> search_questions(const QuestionText& text, const RecipeChoices& choices, Objective objective) {
  std::vector<Question> questions;
  const bool may_use_fewer = objective == Objective::fewest_gpus || objective == Objective::tokens_per_dollar;
  for (QuestionText& one : texts_of(text, choices)) {
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
