// Which plans lie between the values that a space holds of an axis.

#include "planner/search/variants.h"

#include <set>

#include "planner/session/launchable.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline {
namespace {

/// 64 GPUs as tp 4, pp 4, dp 4; 24 sequences for each data-parallel rank, 3 in a micro-batch.
Strategy plan_of_64() {
  Strategy s;
  s.tensor_parallel = 4;
  s.sequence_parallel = SequenceParallel::on;
  s.pipeline_stages = 4;
  s.data_parallel = 4;
  s.schedule = Schedule::one_f_one_b;
  s.micro_batch = 3;
  s.micro_batches = 8;
  s.zero_stage = 1;
  s.shard_group = 4;
  return s;
}
Question dense() { return question_of("llama-3-8b", "dgx-h100", 64, 4096, 96); }

template <class Value>
std::multiset<Value> values(const std::vector<Strategy>& strategies, Value Strategy::*member, Value own) {
  std::multiset<Value> all;
  for (const Strategy& s : strategies)
    if (s.*member != own) all.insert(s.*member);
  return all;
}

// 32 layers, an embedding and a head on 4 ranks: up to 34 / 4 = 8 chunks each. 24 sequences: 1 (half
// of 3 without its remainder), 2, 4 and 6 divide them. 4 ranks share states whole or in pairs.
TEST_CASE("variants take every count of virtual stages, near micro-batches and every shard group") {
  const Question question = dense();
  const Strategy from = plan_of_64();
  const std::vector<Strategy> found = variants_of(from, question, {});
  CHECK(values(found, &Strategy::virtual_stages, from.virtual_stages) ==
        std::multiset<std::int32_t>{2, 3, 4, 5, 6, 7, 8});
  CHECK(values(found, &Strategy::micro_batch, from.micro_batch) == std::multiset<std::int64_t>{1, 2, 4, 6});
  CHECK(values(found, &Strategy::shard_group, from.shard_group) == std::multiset<std::int32_t>{2});
  for (const Strategy& s : found) CHECK(!first_violation(s, question.training(), question.facts(), question.limits()));
}

TEST_CASE("variants that share blocks change no micro-batch and no module") {
  const Strategy from = plan_of_64();
  const std::vector<Strategy> found = variants_of(from, dense(), {}, VariantAxes::of_same_blocks);
  CHECK(values(found, &Strategy::micro_batch, from.micro_batch).empty());
  CHECK(found.size() == 8);
}

// 34 blocks divide evenly over 8 chunks (32 layers), 16 (32) and 32 (32); over 12, 20, 24 and 28 they do not.
TEST_CASE("variants beyond the space leave out what it holds") {
  const Strategy from = plan_of_64();
  const std::vector<Strategy> found = variants_of(from, dense(), {}, VariantAxes::all, VariantValues::beyond_space);
  CHECK(values(found, &Strategy::virtual_stages, from.virtual_stages) == std::multiset<std::int32_t>{5, 6, 7});
  CHECK(values(found, &Strategy::micro_batch, from.micro_batch) == std::multiset<std::int64_t>{6});
}

TEST_CASE("variants of ZeRO-3 gather with and without prefetch") {
  Strategy from = plan_of_64();
  CHECK(values(variants_of(from, dense(), {}), &Strategy::prefetch, ParameterPrefetch::on).empty());
  from.zero_stage = 3;
  CHECK(values(variants_of(from, dense(), {}), &Strategy::prefetch, ParameterPrefetch::on).size() == 1);
  CHECK(values(variants_of(from, dense(), space_from_text("prefetch=on")), &Strategy::prefetch, ParameterPrefetch::on)
            .empty());
}

// 8 layers on each of 4 ranks.
TEST_CASE("variants of ZeRO-3 double and halve its units, up to the layers of a chunk") {
  Strategy from = plan_of_64();
  CHECK(values(variants_of(from, dense(), {}), &Strategy::layers_per_unit, 1).empty());
  from.zero_stage = 3;
  CHECK(values(variants_of(from, dense(), {}), &Strategy::layers_per_unit, 1) == std::multiset<std::int32_t>{2});
  from.layers_per_unit = 6;
  CHECK(values(variants_of(from, dense(), {}), &Strategy::layers_per_unit, 6) == std::multiset<std::int32_t>{3});
  CHECK(
      values(variants_of(from, dense(), space_from_text("layers-per-unit=6")), &Strategy::layers_per_unit, 6).empty());
}

TEST_CASE("variants have no secondary shard group unless it is named") {
  Strategy from = plan_of_64();
  from.zero_stage = 3;
  CHECK(values(variants_of(from, dense(), {}), &Strategy::secondary_shard_group, 1).empty());
  CHECK(values(variants_of(from, dense(), space_from_text("secondary-shard-group=1|2")),
               &Strategy::secondary_shard_group, 1)
            .empty());
}

TEST_CASE("variants leave alone what is fixed") {
  const SearchSpace space = space_from_text("vs=1,mbs=3,shard-group=4,recompute=full,etp=1");
  Strategy from = plan_of_64();
  from.recompute = {RecomputeMode::full, 1};
  CHECK(variants_of(from, dense(), space).empty());
}

TEST_CASE("variants are what the framework launches") {
  const Question question = dense();
  Strategy from = plan_of_64();
  from.sequence_parallel = SequenceParallel::off;
  const SearchSpace deepspeed = session::launchable({}, Framework::deepspeed, question);
  for (const Strategy& s : variants_of(from, question, deepspeed)) {
    CHECK(s.virtual_stages == 1);
    CHECK(s.shard_group == 4);
  }
  // Of full recompute torchtitan knows every n-th layer, Megatron-LM modules.
  from = plan_of_64();
  from.zero_stage = 3;
  from.recompute = {RecomputeMode::full, 1};
  constexpr RecomputeMode every = RecomputeMode::every_nth;
  const auto modes = [&](Framework framework) {
    std::multiset<RecomputeMode> all;
    for (const Strategy& s : variants_of(from, question, session::launchable({}, framework, question)))
      if (s.recompute != from.recompute) all.insert(s.recompute.mode);
    return all;
  };
  CHECK(modes(Framework::torchtitan) == std::multiset<RecomputeMode>{every, every, every});
  const std::multiset<RecomputeMode> megatron = modes(Framework::megatron_lm);
  CHECK(megatron.count(RecomputeMode::selective) == 1);
  CHECK(megatron.count(RecomputeMode::modules) == all_recompute_modules.size() - 1);
}

TEST_CASE("variants divide experts over parts of the tensor-parallel ranks") {
  const Question question = question_of("qwen2-57b-a14b", "dgx-h100", 64, 4096, 96);
  Strategy from = plan_of_64();
  from.expert_parallel = 4;
  const std::vector<Strategy> found = variants_of(from, question, {});
  CHECK(values(found, &Strategy::expert_tensor_parallel, 1) == std::multiset<std::int32_t>{2, 4});
}

TEST_CASE("a module more or less is a variant of selective recompute") {
  Strategy from = plan_of_64();
  from.recompute = *recompute_from_text("selective:layernorm+mlp");
  std::set<std::string> found;
  for (const Strategy& s : variants_of(from, dense(), {}))
    if (s.recompute != from.recompute) found.insert(to_text(s.recompute));
  CHECK(found.count("selective:mlp") == 1);
  CHECK(found.count("selective:layernorm") == 1);
  CHECK(found.count("selective:core_attn+layernorm+mlp") == 1);
  CHECK(found.size() == all_recompute_modules.size());
}

}  // namespace
}  // namespace plumbline
