// Bytes that a layer keeps for its backward pass against the published formulas, exact.
// s tokens, b sequences, h hidden, a heads, t tensor-parallel ranks; 2 bytes per activation.

#include "core/sharding/saved_tensors.h"
#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

struct Letters {
  std::int64_t s, b, h, a, t;
};
constexpr Letters letters[] = {{2048, 4, 6144, 64, 8}, {2048, 1, 12288, 96, 8}, {1024, 2, 768, 12, 4},
                               {512, 3, 256, 4, 2},    {64, 5, 96, 6, 3},       {128, 1, 64, 2, 1}};

Graph gpt_of(const Letters& l, Dropout dropout) { return gpt({2, l.h, l.a, 512, l.s, dropout}); }

Shard shard_of_letters(const Letters& l, SequenceParallel sequence_parallel, FlashAttention flash) {
  Shard shard;
  shard.lengths = {l.b, l.s};
  shard.tensor_parallel = static_cast<std::int32_t>(l.t);
  shard.sequence_parallel = l.t > 1 ? sequence_parallel : SequenceParallel::off;
  shard.flash_attention = flash;
  return shard;
}

struct Kept {
  std::int64_t tensors = 0;     ///< without statistics
  std::int64_t statistics = 0;  ///< fp32 means, deviations, log-sum-exps
};
Kept kept(const Block& block, const Shard& shard, RecomputeMode mode = RecomputeMode::none) {
  std::vector<SavedTensor> saved = saved_tensors(block, shard);
  const auto statistics = std::stable_partition(
      saved.begin(), saved.end(), [](const SavedTensor& tensor) { return tensor.kind != SavedKind::statistics; });
  const std::vector<SavedTensor> tensors(saved.begin(), statistics);
  const std::vector<SavedTensor> rest(statistics, saved.end());
  return {saved_bytes(tensors, mode, boundary_bytes(block, shard)).value(),
          saved_bytes(rest, RecomputeMode::none, Bytes(0)).value()};
}

// Per layer: attention 11 sbh + 5 a s^2 b, MLP 19 sbh, norms 4 sbh (arXiv:2205.05198, equation 1).
TEST_CASE("a GPT layer keeps sbh (34 + 5 as/h) bytes without FlashAttention") {
  for (Letters l : letters) {
    l.t = 1;
    const std::int64_t published = 34 * l.s * l.b * l.h + 5 * l.a * l.s * l.s * l.b;
    const Kept predicted =
        kept(first_layer(gpt_of(l, Dropout::yes)), shard_of_letters(l, SequenceParallel::off, FlashAttention::off));
    INFO("predicted " << predicted.tensors << ", published " << published);
    CHECK(predicted.tensors == published);
    // Two norms, a mean and a deviation per token in fp32.
    CHECK(predicted.statistics == 2LL * 2 * 4 * l.s * l.b);
  }
}

// What tensor parallelism leaves whole: inputs and outputs of both norms (8) and two dropout masks (2); equation 2.
TEST_CASE("tensor parallelism leaves sbh (10 + 24/t + 5as/(ht))") {
  for (const Letters& l : letters) {
    const std::int64_t published = 10 * l.s * l.b * l.h + (24 * l.s * l.b * l.h + 5 * l.a * l.s * l.s * l.b) / l.t;
    const Kept predicted =
        kept(first_layer(gpt_of(l, Dropout::yes)), shard_of_letters(l, SequenceParallel::off, FlashAttention::off));
    INFO("t " << l.t << ": predicted " << predicted.tensors << ", published " << published);
    CHECK(predicted.tensors == published);
  }
}

// Equation 4: everything over t.
TEST_CASE("sequence parallelism divides all of it by t") {
  for (const Letters& l : letters) {
    const std::int64_t published = (34 * l.s * l.b * l.h + 5 * l.a * l.s * l.s * l.b) / l.t;
    const Kept predicted =
        kept(first_layer(gpt_of(l, Dropout::yes)), shard_of_letters(l, SequenceParallel::on, FlashAttention::off));
    INFO("t " << l.t << ": predicted " << predicted.tensors << ", published " << published);
    CHECK(predicted.tensors == published);
  }
}

// Outputs of both norms (4) with all rows, as autograd saves what a framework gathers before a product: torchtitan
// (torch/distributed/tensor/parallel/style.py), nanotron without tp_recompute_allgather. The other 30 over t.
TEST_CASE("kept gathered inputs leave sbh (4 + 30/t + 5as/(ht))") {
  for (const Letters& l : letters) {
    if (l.t == 1) continue;
    const std::int64_t sbh = l.s * l.b * l.h;
    Shard shard = shard_of_letters(l, SequenceParallel::on, FlashAttention::off);
    shard.kept.gathered_inputs = GatheredInputs::kept;
    const Kept predicted = kept(first_layer(gpt_of(l, Dropout::yes)), shard);
    CHECK(predicted.tensors == 4 * sbh + (30 * sbh + 5 * l.a * l.s * l.s * l.b) / l.t);
  }
}

// Equation 6: the 5 a s^2 b of the attention core go.
TEST_CASE("selective recompute keeps 34 sbh / t with sequence parallelism") {
  for (const Letters& l : letters) {
    const std::int64_t sbh = l.s * l.b * l.h;
    const Block layer = first_layer(gpt_of(l, Dropout::yes));
    const auto selective = [&](SequenceParallel sequence_parallel) {
      return kept(layer, shard_of_letters(l, sequence_parallel, FlashAttention::off), RecomputeMode::selective).tensors;
    };
    CHECK(selective(SequenceParallel::on) == 34 * sbh / l.t);
    CHECK(selective(SequenceParallel::off) == 10 * sbh + 24 * sbh / l.t);
  }
}

// Table 2, last row: the input of the layer.
TEST_CASE("full recompute keeps 2 sbh, divided by t only with sequence parallelism") {
  for (const Letters& l : letters) {
    const Block layer = first_layer(gpt_of(l, Dropout::yes));
    const auto full = [&](SequenceParallel sequence_parallel) {
      return kept(layer, shard_of_letters(l, sequence_parallel, FlashAttention::off), RecomputeMode::full).tensors;
    };
    CHECK(full(SequenceParallel::off) == 2 * l.s * l.b * l.h);
    CHECK(full(SequenceParallel::on) == 2 * l.s * l.b * l.h / l.t);
  }
}

// Inputs of the norms 4, their outputs 4, query, key, value 6, attention's output 2, both sides of GELU 16; one fp32
// log-sum-exp per head and token, and 8 bytes of statistics per token and norm. Equals llm.c's list of buffers.
TEST_CASE("a GPT layer with FlashAttention and no dropout keeps 32 sbh + 4 abs and 8 sb per norm") {
  for (Letters l : letters) {
    l.t = 1;
    const Kept predicted =
        kept(first_layer(gpt_of(l, Dropout::no)), shard_of_letters(l, SequenceParallel::off, FlashAttention::on));
    CHECK(predicted.tensors == 32 * l.s * l.b * l.h);
    CHECK(predicted.statistics == 4 * l.a * l.b * l.s + 2LL * 8 * l.s * l.b);
  }
}

struct LlamaLetters {
  std::int64_t s, b, h, a, g, d, f;  ///< g kv heads, d features per head, f inner width
};
constexpr LlamaLetters llama_letters[] = {{4096, 1, 4096, 32, 32, 128, 11008},
                                          {8192, 1, 8192, 64, 8, 128, 28672},
                                          {2048, 3, 1024, 16, 8, 128, 3072},  // a d = 2 h
                                          {256, 2, 640, 4, 1, 256, 2048}};

LlamaShape llama_of(const LlamaLetters& l) { return {2, l.h, l.a, l.g, l.d, l.f, 512}; }
Shard one_rank(const LlamaLetters& l) {
  Shard shard;
  shard.lengths = {l.b, l.s};
  return shard;
}

// Norm inputs and outputs 8h, query and attention output 4ad, key and value 4gd, gate, up and their product 6f.
TEST_CASE("a LLaMA layer keeps sb (8h + 4ad + 4gd + 6f) + 4abs + 8sb") {
  for (const LlamaLetters& l : llama_letters) {
    const Kept predicted = kept(first_layer(llama(llama_of(l))), one_rank(l));
    CHECK(predicted.tensors == l.s * l.b * (8 * l.h + 4 * l.a * l.d + 4 * l.g * l.d + 6 * l.f));
    CHECK(predicted.statistics == 4 * l.a * l.b * l.s + 8 * l.s * l.b);
  }
}

// In place of 6f: dispatched tokens 2kh, three inner tensors of the experts 6k f_e, their outputs 2kh (the gradient of
// the router's weights reads them), fp32 logits and probabilities of the router 8E; the shared expert adds 6 f_shared.
TEST_CASE("experts keep 4kh + 6k f_e + 8E bytes per token in place of the MLP's 6f") {
  for (const LlamaLetters& l : llama_letters) {
    constexpr std::int64_t experts = 16;
    constexpr std::int64_t chosen = 3;
    constexpr std::int64_t expert_width = 192;
    for (const std::int64_t shared : {0, 320}) {
      LlamaShape shape = llama_of(l);
      shape.experts = experts;
      shape.chosen = chosen;
      shape.expert_width = expert_width;
      shape.shared_width = shared;
      const Kept predicted = kept(first_layer(llama(shape)), one_rank(l));
      const std::int64_t attention_and_norms = 8 * l.h + 4 * l.a * l.d + 4 * l.g * l.d;
      const std::int64_t mixture = 4 * chosen * l.h + 6 * chosen * expert_width + 8 * experts + 6 * shared;
      CHECK(predicted.tensors == l.s * l.b * (attention_and_norms + mixture));
      CHECK(predicted.statistics == 4 * l.a * l.b * l.s + 8 * l.s * l.b);
    }
  }
}

}  // namespace
}  // namespace plumbline
