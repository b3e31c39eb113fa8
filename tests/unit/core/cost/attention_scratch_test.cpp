#include "core/cost/attention_scratch.h"

#include "planner/pricing/evaluate.h"
#include "planner/question/question.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

QuestionText asked(const char* model, std::int64_t sequence, std::int64_t batch) {
  QuestionText text;
  text.model = model;
  text.machine = "dgx-h200";
  text.devices = 1;
  text.stack = "plumbline-cuda";
  text.training.sequence_length = sequence;
  text.training.global_batch = batch;
  return text;
}

Bytes most_scratch(const Question& question, const Shard& shard) {
  Bytes most(0);
  for (const Block& block : question.graph().blocks()) most = std::max(most, attention_scratch(block, shard));
  return most;
}

Shard shard_of_batch(std::int64_t batch, std::int64_t sequence) {
  Shard shard;
  shard.lengths = {.batch = batch, .sequence = sequence};
  return shard;
}

}  // namespace

// What libraries took on an H200, less 11 MB of handles and graphs: 2 222 MB of Llama-3.2-1B with 2 x 4 096 tokens, 4
// 370 MB with 1 x 8 192 (docs/cuda.md).
TEST_CASE("the scratch of cuDNN's deterministic backward is what was measured") {
  const Question llama(asked("llama-3.2-1b", 4096, 2));
  const std::int64_t rows = std::int64_t{32} * 4096;  // of a sequence's heads
  const std::int64_t keys_and_values = rows * (64 + 64) * 2;
  CHECK(most_scratch(llama, shard_of_batch(2, 4096)) == Bytes(2 * (rows * 4096 * 2 + keys_and_values)));
  CHECK(most_scratch(llama, shard_of_batch(1, 8192)) == Bytes(2 * (rows * 8192 * 2 + keys_and_values)));
  Shard halves = shard_of_batch(2, 4096);
  halves.tensor_parallel = 2;
  CHECK(most_scratch(llama, halves) == Bytes(rows * 4096 * 2 + keys_and_values));
}

// cudnn-frontend: batch x heads x ceil64(queries) x ceil64(keys) x 2 bytes; 4 000 tokens are 63 tiles of 64.
TEST_CASE("queries and keys are padded to 64 tokens") {
  const Question llama(asked("llama-3.2-1b", 4000, 1));
  const std::int64_t padded_tokens = std::int64_t{63} * 64;
  CHECK(most_scratch(llama, shard_of_batch(1, 4000)) ==
        Bytes(32 * padded_tokens * padded_tokens * 2 + std::int64_t{32} * 4000 * (64 + 64) * 2));
}

// Of 32 query heads and 8 192 tokens: 32 x 8 192 x 8 192 x 2 bytes = 4 294 967 296, with heads of 64 and of 128
// features; gradients of keys and values of every query head go with the features, 32 x 8 192 x 2 x features x 2.
TEST_CASE("the scratch of scores does not depend on the size of a head") {
  const Bytes narrow = most_scratch(Question(asked("llama-3.2-1b", 8192, 1)), shard_of_batch(1, 8192));
  const Bytes wide = most_scratch(Question(asked("llama-3-8b", 8192, 1)), shard_of_batch(1, 8192));
  CHECK(narrow == Bytes(4'294'967'296 + 67'108'864));
  CHECK(wide == Bytes(4'294'967'296 + 134'217'728));
}

TEST_CASE("calls that cuDNN does not take need no scratch") {
  const Question llama(asked("llama-3.2-1b", 4096, 2));
  Shard shard = shard_of_batch(2, 4096);
  shard.formats = precision_formats(PrecisionRecipe::fp32);
  CHECK(most_scratch(llama, shard) == Bytes(0));
  shard = shard_of_batch(2, 4096);
  shard.context_parallel = 2;
  CHECK(most_scratch(llama, shard) == Bytes(0));
  shard = shard_of_batch(2, 4096);
  shard.flash_attention = FlashAttention::off;
  CHECK(most_scratch(llama, shard) == Bytes(0));
  CHECK(most_scratch(Question(asked("gpt2", 1024, 2)), shard_of_batch(2, 1024)) == Bytes(0));  // dropout
}

TEST_CASE("a plan counts the scratch of attention or that of products, which use the same memory") {
  for (const bool has_scratch : {true, false}) {
    const Question question(asked("llama-3.2-1b", has_scratch ? 4096 : 32, 2));
    const Strategy s = completed({}, question);
    const Bytes scratch = most_scratch(question, shard_of(s, question.training()));
    QuestionText text = asked("llama-3.2-1b", has_scratch ? 4096 : 32, 2);
    text.stack = "plumbline";
    const Bytes with = evaluate(question, s).prediction.peak_memory;
    const Bytes without = evaluate(Question(text), s).prediction.peak_memory;
    const Bytes products(std::int64_t{32} << 20);
    CHECK((scratch > products) == has_scratch);
    CHECK(with - without == Bytes(577'000'000) + std::max(scratch, products));
  }
}

}  // namespace plumbline
