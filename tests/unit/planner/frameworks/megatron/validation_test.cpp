// What Megatron-LM's own checks of its arguments refuse: none of it is launched, searched for or written.
// Source: megatron-core 0.16.1 (transformer_config.py, optimizer/muon.py) and megatron/training/arguments.py.

#include "core/base/errors.h"
#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/launch_round_trip.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr std::array both{Framework::megatron_lm, Framework::megatron_bridge};

std::string written(const Strategy& strategy, std::string_view release, std::int64_t sequence = 4096,
                    const Training& asked = {}) {
  Training training = asked;
  training.sequence_length = sequence;
  LaunchSettings settings = settings_for(strategy, training);
  settings.network_config = parse_json(
      R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192})",
      "network");
  return megatron_lm_target().write(settings, release).files.front().text;
}

Strategy sharded(std::int32_t stage) {
  Strategy s;
  s.data_parallel = s.shard_group = 8;
  s.zero_stage = stage;
  return s;
}

TEST_CASE("Megatron-FSDP has its own checkpoint format") {
  for (const std::int32_t stage : {2, 3}) {
    CHECK_THAT(written(sharded(stage), "main"), ContainsSubstring("--ckpt-format fsdp_dtensor"));
    CHECK_THAT(written(sharded(stage), "core_v0.13.0"), !ContainsSubstring("--ckpt-format"));
  }
  CHECK_THAT(written(sharded(1), "main"), !ContainsSubstring("--ckpt-format"));
  LaunchSettings settings = settings_for(sharded(3), Training{});
  CHECK_THAT(megatron_bridge_target().write(settings, "main").files.front().text,
             ContainsSubstring("cfg.checkpoint.ckpt_format = \"fsdp_dtensor\""));
}

TEST_CASE("there are as many positions as tokens") {
  CHECK_THAT(written(Strategy{}, "main", 16384), ContainsSubstring("--max-position-embeddings 16384"));
  CHECK_THAT(written(Strategy{}, "main", 4096), ContainsSubstring("--max-position-embeddings 8192"));
}

TEST_CASE("a release without --attention-backend is not given it") {
  Strategy s;
  s.flash_attention = FlashAttention::off;
  CHECK_THROWS_WITH(written(s, "core_v0.10.0"), ContainsSubstring("core_v0.10.0 has no --attention-backend"));
  Training training;
  training.gradient_format = NumberFormat::fp32;  // the release knows no other
  CHECK_THAT(written(s, "core_v0.11.0", 4096, training), ContainsSubstring("--attention-backend unfused"));
}

TEST_CASE("Megatron offloads no activations in a pipeline") {
  Strategy s;
  s.pipeline_stages = 4;
  s.schedule = Schedule::one_f_one_b;
  s.recompute = Recompute{RecomputeMode::offloaded, 4};
  for (const Framework framework : both) {
    const auto sentences = inexpressible(framework, s, {});
    REQUIRE_FALSE(sentences.empty());
    CHECK_THAT(sentences.back(), ContainsSubstring("offloads activations without a pipeline alone"));
  }
  s.pipeline_stages = 1;
  s.schedule = Schedule::none;
  CHECK(inexpressible(Framework::megatron_lm, s, {}).empty());
}

TEST_CASE("Megatron trains with Muon on whole states, without overlap and not in fp16") {
  NetworkFacts network;
  network.optimizer = Optimizer::muon;
  for (const Framework framework : both) {
    for (const std::int32_t stage : {1, 2, 3}) CHECK_FALSE(launches(record_of(framework), sharded(stage), network));
    CHECK(launches(record_of(framework), sharded(0), network));
    CHECK_FALSE(network_problem(framework, network));
  }
  network.precision = PrecisionRecipe::fp16;
  REQUIRE(network_problem(Framework::megatron_lm, network));
  CHECK_THAT(network_problem(Framework::megatron_lm, network)->what, ContainsSubstring("fp16"));
  Training training;
  training.optimizer = Optimizer::muon;
  CHECK_THAT(written(sharded(0), "main", 4096, training),
             ContainsSubstring("--optimizer muon") && !ContainsSubstring("--overlap"));
}

TEST_CASE("Megatron divides no experts over ranks in fp16") {
  NetworkFacts network;
  network.has_experts = true;
  network.precision = PrecisionRecipe::fp16;
  Strategy s = sharded(1);
  CHECK(launches(record_of(Framework::megatron_lm), s, network));
  s.expert_parallel = 8;
  CHECK_FALSE(launches(record_of(Framework::megatron_lm), s, network));
}

TEST_CASE("the format of the moments of Megatron-Bridge is said with the optimizer that keeps it") {
  Training training;
  training.optimizer_format = NumberFormat::bf16;
  training.sequence_length = 4096;
  const LaunchSettings settings = settings_for(Strategy{}, training);
  const LaunchFiles files = megatron_bridge_target().write(settings, "main");
  CHECK_THAT(files.files.front().text, ContainsSubstring("cfg.optimizer.use_precision_aware_optimizer = True") &&
                                           ContainsSubstring("cfg.optimizer.exp_avg_dtype = torch.bfloat16") &&
                                           ContainsSubstring("cfg.optimizer.exp_avg_sq_dtype = torch.bfloat16"));
  CHECK(megatron_bridge_target().read(files.files.front().text, "overrides.py").settings.optimizer_format ==
        NumberFormat::bf16);
}

}  // namespace
}  // namespace plumbline
