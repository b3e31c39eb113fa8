// Utilisation: what of attention is counted.

#include <cmath>

#include "planner/pricing/evaluate.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Plan plan_of(const std::string& model, std::int64_t sequence) {
  QuestionText text;
  text.model = model;
  text.machine = "dgx-h100";
  text.training.sequence_length = sequence;
  text.training.global_batch = 8;
  const Question question(text);
  return evaluate(question, completed({}, question));
}

// GPT-2: 12 layers of 768. Attention's two products of the whole square: 2 * 2 * 1024^2 * 768 a layer forward, three
// times that with the backward; a causal mask leaves half. 8 sequences.
TEST_CASE("causal MFU leaves out half of the attention's products") {
  const Prediction p = plan_of("gpt2", 1024).prediction;
  const double attention = 8 * 12 * 3 * 4.0 * 1024 * 1024 * 768;
  const double left = 1 - attention / 2 / p.model_flops_per_step.value();
  CHECK(std::abs(p.mfu_causal / p.mfu - left) < 1e-12);
}

TEST_CASE("both kinds of MFU are one where no mask is causal") {
  const Prediction p = plan_of("bert-base", 512).prediction;
  CHECK(p.mfu_causal == p.mfu);
}

}  // namespace
}  // namespace plumbline
