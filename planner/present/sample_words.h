#pragma once
/// \file sample_words.h: the words for what a network is trained on, and its throughput in them.
///
/// The one place that says images, samples or tokens; views ask here and have no case of their own.
/// Checked against: tests/unit/planner/present/sample_words_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "core/plan/plan.h"

namespace plumbline::present {

struct Rate {
  std::string_view unit;  ///< "images/s/GPU"
  double per_second_and_gpu = 0;
};
/// The throughput of a plan in each unit that such a network is spoken of in, the usual one first.
[[nodiscard]] std::vector<Rate> rates(const Plan& plan);

/// Whether its throughput is spoken of in tokens, alone or beside samples.
[[nodiscard]] bool counts_tokens(const Plan& plan);
[[nodiscard]] bool counts_images(const Plan& plan);
/// Whether its samples are neither pictures nor sequences of tokens to predict.
[[nodiscard]] bool counts_samples(const Plan& plan);

/// "sequence 4096, global batch 64", "global batch 512 images".
[[nodiscard]] std::string batch_words(const Plan& plan);
/// "15.0 T tokens", "115 M images" of the whole run; empty without a budget.
[[nodiscard]] std::string budget_words(const Plan& plan);

}  // namespace plumbline::present
