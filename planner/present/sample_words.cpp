#include "planner/present/sample_words.h"

#include "core/quantity/text.h"

namespace plumbline::present {
namespace {

/// One kind of network.
struct SampleWords {
  std::string_view many;  ///< what a batch has so many of; empty: sequences, which go without saying
  std::string_view rate;
  bool has_sequences = true;  ///< of a length that somebody chooses
  bool has_tokens = true;
};

SampleWords words_of(SampleUnit unit) {
  switch (unit) {
    case SampleUnit::sequence: return {"", "", true, true};
    case SampleUnit::sample: return {" samples", "samples/s/GPU", true, true};
    case SampleUnit::image: return {" images", "images/s/GPU", false, false};
  }
  return {};
}

}  // namespace

std::vector<Rate> rates(const Plan& plan) {
  const SampleWords words = words_of(plan.model.sample);
  std::vector<Rate> all;
  if (!words.rate.empty()) all.push_back({words.rate, plan.samples_per_second_per_gpu()});
  if (words.has_tokens) all.push_back({"tokens/s/GPU", plan.prediction.tokens_per_second_per_gpu});
  return all;
}

bool counts_tokens(const Plan& plan) { return words_of(plan.model.sample).has_tokens; }
bool counts_images(const Plan& plan) { return plan.model.sample == SampleUnit::image; }
bool counts_samples(const Plan& plan) { return plan.model.sample == SampleUnit::sample; }

std::string batch_words(const Plan& plan) {
  const SampleWords words = words_of(plan.model.sample);
  const std::string sequence =
      words.has_sequences ? "sequence " + std::to_string(plan.training.sequence_length) + ", " : std::string();
  return sequence + "global batch " + std::to_string(plan.training.global_batch) + std::string(words.many);
}

std::string budget_words(const Plan& plan) {
  const Training& t = plan.training;
  if (!t.token_budget) return "";
  const SampleWords words = words_of(plan.model.sample);
  if (words.has_tokens) return count_text(*t.token_budget) + " tokens";
  return count_text(*t.token_budget / t.sequence_length) + std::string(words.many);
}

}  // namespace plumbline::present
