// Milliseconds of a head and its loss, forward and backward, over 128 256 classes of 4096 features in bf16 on one A100:
// linkedin/Liger-Kernel, benchmark/data/all_benchmark_data.csv, fused_linear_cross_entropy, mode full, release 0.4.2 of
// 22 November 2024; and of Gemma 2 2B's, 8192 tokens of 256 000 classes: apple/ml-cross-entropy, README.md, expected
// output of its benchmark. Nothing of it was fitted.

#include <array>
#include <cmath>

#include "planner/pricing/evaluate.h"
#include "planner/pricing/priced.h"
#include "tests/catch.h"

namespace plumbline::fused_linear_loss_test {
namespace {

BlockCost head_of(const char* model, std::int64_t tokens, const char* loss) {
  QuestionText text;
  text.model = model;
  text.machine = "dgx-a100-80g";
  text.devices = 1;
  text.training.sequence_length = tokens;
  text.training.global_batch = 1;
  text.training.precision = PrecisionRecipe::bf16_pure;
  text.stack = "pytorch";
  text.choices.loss = loss;
  const Question question(text);
  Strategy s;
  s.flash_attention = FlashAttention::on;
  const std::vector<BlockCost> costs = block_costs(question, s);
  const std::vector<Block>& blocks = question.graph().blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (blocks[b].kind() == BlockKind::output) return costs[b];
  throw std::logic_error("the network has a head");
}

double milliseconds(const BlockCost& cost) {
  return 1e3 * to_seconds(cost.forward.total() + cost.backward.total()).value();
}

struct Row {
  std::int64_t tokens;
  double fused_ms;
  double eager_ms;
};
constexpr std::array rows{Row{4096, 121.4, 56.0}, Row{8192, 166.7, 111.5}, Row{16384, 277.1, 220.8},
                          Row{32768, 511.1, 452.5}};

}  // namespace

TEST_CASE("a head fused with its loss by Liger and an eager one take what Liger's benchmark published") {
  for (const Row& row : rows) {
    const double fused = milliseconds(head_of("llama-3.1-8b", row.tokens, "fused_linear"));
    const double eager = milliseconds(head_of("llama-3.1-8b", row.tokens, "fp32_eager"));
    CAPTURE(row.tokens, fused, row.fused_ms, eager, row.eager_ms);
    CHECK(std::abs(fused / row.fused_ms - 1) < 0.08);
    CHECK(std::abs(eager / row.eager_ms - 1) < 0.16);
  }
}

TEST_CASE("a cut loss of Gemma 2's vocabulary and a compiled one take what the authors of cut cross-entropy print") {
  const double cut = milliseconds(head_of("gemma-2-2b", 8192, "cut"));
  const double compiled = milliseconds(head_of("gemma-2-2b", 8192, "compiled"));
  CAPTURE(cut, compiled);
  CHECK(std::abs(cut / 134.8 - 1) < 0.16);
  CHECK(std::abs(compiled / 144.0 - 1) < 0.16);
}

TEST_CASE("logits of a fused loss take a chunk of two bytes each, and none of a cut one") {
  const BlockCost fused = head_of("llama-3.1-8b", 8192, "fused_linear");
  const BlockCost cut = head_of("llama-3.1-8b", 8192, "cut");
  constexpr std::int64_t per_token = 12LL * 8192;  // maxima, sums and target logits in 32 bits
  // 128 256 / 4096 rounds up to 32 chunks of 256 tokens.
  CHECK(fused.memory().logits == Bytes(2LL * 256 * 128256 + per_token));
  CHECK(cut.memory().logits == Bytes(per_token));
}

}  // namespace plumbline::fused_linear_loss_test
