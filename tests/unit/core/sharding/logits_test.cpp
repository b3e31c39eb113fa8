#include "core/sharding/logits.h"

#include "planner/question/question.h"
#include "tests/catch.h"

namespace plumbline {

TEST_CASE("rows of logits begin at multiples of eight elements") {
  CHECK(logit_stride(50'257) == 50'264);
  CHECK(logit_stride(50'304) == 50'304);
  CHECK(logit_stride(1) == 8);
}

// GPT-2's 50 257 classes; of three ranks each has 16 753.
TEST_CASE("what a rank holds of logits has whole rows of them, whatever the vocabulary and its division") {
  QuestionText text;
  text.model = "gpt2";
  text.machine = "dgx-h100";
  text.devices = 1;
  text.training.sequence_length = 64;
  text.training.global_batch = 2;
  const Question question(text);
  for (const Block& block : question.graph().blocks())
    for (std::size_t t = 0; t < block.tensors().size(); ++t) {
      const TensorId id(static_cast<std::int32_t>(t));
      if (!is_logits(block, id)) continue;
      CHECK(block.kind() == BlockKind::output);
      Shard shard;
      shard.lengths = {.batch = 2, .sequence = 64};
      shard.formats.activation = NumberFormat::bf16;
      CHECK(logit_bytes(block.tensors()[t], shard) == Bytes(std::int64_t{2} * 128 * 50'264));
      shard.formats.activation = NumberFormat::fp32;
      CHECK(logit_bytes(block.tensors()[t], shard) == Bytes(std::int64_t{4} * 128 * 50'264));
      shard.tensor_parallel = 3;
      CHECK(logit_bytes(block.tensors()[t], shard) == Bytes(std::int64_t{4} * 128 * 16'760));
    }
}

}  // namespace plumbline
