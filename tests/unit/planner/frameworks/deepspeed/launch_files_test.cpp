// DeepSpeed's files: keys in both directions, and the lines of Python that they need.

#include "planner/frameworks/launch/launch_target.h"

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/launch_round_trip.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

Imported imported(std::string_view json) { return deepspeed_target().read(json, "ds_config.json"); }

std::string config_of(const Strategy& strategy, const Training& training) {
  const LaunchFiles files = deepspeed_target().write(settings_for(strategy, training), "0.19.8");
  std::string text = to_json_text(parse_json(file_called(files, "ds_config.json").text, "ds_config.json"), -1);
  text.pop_back();
  return text;
}

std::string script_of(const Strategy& strategy, const Training& training = {}) {
  return file_called(deepspeed_target().write(settings_for(strategy, training), "0.19.8"), "train.py").text;
}

// 4 * 8 * 2 = 64 sequences a step.
TEST_CASE("batch, sharding and precision are keys of ds_config.json") {
  Strategy s;
  s.data_parallel = 4;
  s.micro_batch = 2;
  s.micro_batches = 8;
  s.zero_stage = 2;
  s.shard_group = 4;
  CHECK(
      config_of(s, Training{}) ==
      R"({"train_batch_size":64,"train_micro_batch_size_per_gpu":2,"gradient_accumulation_steps":8,)"
      R"("zero_optimization":{"stage":2,"overlap_comm":true},"bf16":{"enabled":true},"data_types":{"grad_accum_dtype":"bf16"},)"
      R"("pipeline":{"activation_checkpoint_interval":0},"optimizer":{"type":"AdamW"}})");
}

TEST_CASE("overlap_comm is off unless it is said or stage 3's, and without effect below ZeRO-1") {
  const auto settings = [](const std::string& zero) {
    return imported(R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {)" + zero + "}}").settings;
  };
  CHECK(settings(R"("stage": 2)").choices.overlap == "none");
  CHECK(settings(R"("stage": 2, "overlap_comm": true)").choices.overlap == "reductions");
  CHECK(settings(R"("stage": 1, "overlap_comm": false)").choices.overlap == "none");
  CHECK(settings(R"("stage": 0, "overlap_comm": true)").choices.overlap == "none");
  CHECK(settings(R"("stage": 3)").choices.overlap.empty());
  CHECK(settings(R"("stage": 3)").prefetch != ParameterPrefetch::off);
  CHECK(settings(R"("stage": 3, "overlap_comm": false)").choices.overlap == "none");
  CHECK(settings(R"("stage": 3, "overlap_comm": false)").prefetch == ParameterPrefetch::off);
}

TEST_CASE("secondary shards are the hierarchical partition of ZeRO++") {
  Strategy s;
  s.data_parallel = s.shard_group = 16;
  s.zero_stage = 3;
  s.secondary_shard_group = 8;
  const std::string text = config_of(s, Training{});
  CHECK_THAT(text, ContainsSubstring(R"("stage":3,"zero_hpz_partition_size":8,)"));
  const Imported back = imported(text);
  CHECK(back.settings.secondary_shard_group == 8);
  CHECK(back.notes.unread.empty());
  s.secondary_shard_group = 1;
  CHECK(config_of(s, Training{}).find("hpz") == std::string::npos);
  CHECK_FALSE(
      imported(R"({"zero_optimization":{"stage":3,"zero_hpz_partition_size":1}})").settings.secondary_shard_group);
  s.data_parallel = s.shard_group = 8;
  s.secondary_shard_group = 4;
  s.tensor_parallel = 2;
  CHECK(inexpressible(Framework::deepspeed, s, NetworkFacts{}) ==
        std::vector<std::string>{"DeepSpeed keeps secondary shards (hpZ) without tensor parallelism alone "
                                 "(deepspeed/utils/groups.py: _create_zero_param_parallel_group)"});
}

// Of 8 ranks, 8 are no smaller group; stage 2 keeps parameters whole.
TEST_CASE("a partition of all ranks, or of another stage, is none") {
  const auto group = [](std::int32_t stage, std::int32_t ranks) {
    LaunchSettings s = imported(R"({"zero_optimization":{"stage":)" + std::to_string(stage) +
                                R"(,"zero_hpz_partition_size":)" + std::to_string(ranks) + "}}")
                           .settings;
    s.data_parallel = 8;
    derive_missing(s);
    return strategy_of(s).secondary_shard_group;
  };
  CHECK(group(3, 4) == 4);
  CHECK(group(3, 8) == 1);
  CHECK(group(2, 4) == 1);
}

TEST_CASE("precisions and gradient formats are written and read back") {
  for (const PrecisionRecipe recipe :
       {PrecisionRecipe::fp32, PrecisionRecipe::fp16, PrecisionRecipe::bf16, PrecisionRecipe::bf16_pure}) {
    Training training;
    training.precision = recipe;
    CHECK(training_of(imported(config_of(Strategy{}, training)).settings).precision == recipe);
    CHECK(training_of(imported(config_of(Strategy{}, training)).settings).formats().gradient ==
          precision_formats(recipe).gradient);
  }
  Training training;
  training.gradient_format = NumberFormat::fp32;
  const std::string text = config_of(Strategy{}, training);
  CHECK_THAT(text, ContainsSubstring(R"("grad_accum_dtype":"fp32"},"communication_data_type":"fp32")"));
  CHECK(imported(text).settings.gradient_format == NumberFormat::fp32);
  CHECK(imported(text).notes.unread.empty());
}

TEST_CASE("optimizers are written and read back") {
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adagrad, Optimizer::rmsprop,
                                    Optimizer::adam, Optimizer::adamw, Optimizer::lion, Optimizer::muon}) {
    Training training;
    training.optimizer = optimizer;
    Strategy strategy;
    strategy.data_parallel = strategy.shard_group = 2;
    strategy.zero_stage = 1;
    const std::string text = config_of(strategy, training);
    INFO(text);
    CHECK(imported(text).settings.optimizer == optimizer);
    const bool is_adam = optimizer == Optimizer::adam || optimizer == Optimizer::adamw;
    CHECK((text.find("zero_allow_untested_optimizer") == std::string::npos) == is_adam);
  }
}

TEST_CASE("what a script gives its Trainer is left open") {
  const Imported all = imported(
      R"({"train_batch_size":"auto","train_micro_batch_size_per_gpu":"auto","gradient_accumulation_steps":"auto",)"
      R"("bf16":{"enabled":"auto"},"gradient_clipping":"auto","optimizer":{"type":"AdamW","params":{"lr":"auto"}},)"
      R"("zero_optimization":{"stage":3,"reduce_bucket_size":"auto"}})");
  CHECK(all.settings.zero_stage == 3);
  CHECK(all.settings.optimizer == Optimizer::adamw);
  CHECK_FALSE(all.settings.precision);
  CHECK_FALSE(all.settings.global_batch);
  CHECK_FALSE(all.settings.micro_batch);
  CHECK_FALSE(all.settings.recipe.clip);
  CHECK(all.notes.unread.empty());
}

TEST_CASE("what DeepSpeed does where a file is silent is what is read") {
  const LaunchSettings s = imported(R"({"train_micro_batch_size_per_gpu":4})").settings;
  CHECK(s.zero_stage == 0);
  CHECK(s.precision == PrecisionRecipe::fp32);
  CHECK(s.micro_batches == 1);
  CHECK(imported(R"({"zero_optimization":true})").settings.zero_stage == 1);
  CHECK(imported(R"({"bfloat16":{"enabled":true}})").settings.precision == PrecisionRecipe::bf16);
  CHECK(imported(R"({"fp16":{"enabled":false}})").settings.precision == PrecisionRecipe::fp32);
  CHECK(imported(R"({"optimizer":{"type":"Adam"}})").settings.optimizer == Optimizer::adamw);
  CHECK(imported(R"({"zero_optimization":{"stage":3,"mics_shard_size":8}})").settings.shard_group == 8);
}

TEST_CASE("context parallelism is Ulysses, and a ring has no key") {
  const LaunchSettings s = imported(R"({"sequence_parallel_size":4})").settings;
  CHECK(s.context_parallel == 4);
  CHECK(s.context_communication == ContextCommunication::all_to_all);
  Strategy ring;
  ring.context_parallel = 4;
  CHECK(inexpressible(Framework::deepspeed, ring, {}) ==
        std::vector<std::string>{
            "DeepSpeed divides sequences by all-to-all alone (Ulysses, --cp-comm all-to-all) and has no "
            "ring attention (deepspeed/runtime/sequence_parallel/ulysses_sp.py)"});
  ring.context_communication = ContextCommunication::all_to_all;
  CHECK(inexpressible(Framework::deepspeed, ring, {}).empty());
}

TEST_CASE("data-parallel ranks follow from the batch") {
  CHECK(imported(R"({"train_batch_size":64,"train_micro_batch_size_per_gpu":2,"gradient_accumulation_steps":4})")
            .settings.data_parallel == 8);
  CHECK_THROWS_WITH(
      imported(R"({"train_batch_size":10,"train_micro_batch_size_per_gpu":4,"gradient_accumulation_steps":2})"),
      ContainsSubstring("10 is no multiple of 4 * 2"));
  CHECK_THROWS_WITH(imported(R"({"zero_optimization":{"stage":4}})"),
                    ContainsSubstring("ds_config.json: zero_optimization.stage: found an integer 4"));
}

TEST_CASE("keys that change memory or time and have no value here are named") {
  const std::vector<std::string> expected{"zero_optimization.offload_param changes memory and time and is not modelled",
                                          "zero_optimization.zero_quantized_weights changes time and is not modelled",
                                          "zero_optimization.reduce_bucket_size changes memory and is not modelled",
                                          "optimizer.type OneBitAdam changes memory and time and is not modelled"};
  const Imported found = imported(
      R"({"zero_optimization":{"stage":3,"offload_param":{"device":"cpu"},"offload_optimizer":{"device":"none"},)"
      R"("zero_quantized_weights":true,"zero_quantized_gradients":false,"reduce_bucket_size":2e8,)"
      R"("allgather_bucket_size":5e8},"optimizer":{"type":"OneBitAdam"},"steps_per_print":10,)"
      R"("flops_profiler":{"enabled":false}})");
  CHECK(found.notes.unread == expected);
  CHECK(found.notes.ignored == 5);  // an offload to nowhere, 2 defaults, the profiler, steps_per_print
  CHECK(imported(R"({"no_such_key":1,"train_batch_size":8})").notes.unread.size() == 1);
}

TEST_CASE("a pipeline is an argument of Python that the script takes from the file") {
  Strategy s;
  s.pipeline_stages = 4;
  s.schedule = Schedule::one_f_one_b;
  s.micro_batches = 8;
  s.recompute = Recompute{RecomputeMode::full};
  CHECK_THAT(config_of(s, Training{}),
             ContainsSubstring(R"("pipeline":{"stages":4,"activation_checkpoint_interval":1})"));
  CHECK_THAT(script_of(s),
             ContainsSubstring("PipelineModule(") && ContainsSubstring("num_stages=config[\"pipeline\"][\"stages\"]"));
}

TEST_CASE("what a model needs as it is made is in the script") {
  Strategy s;
  s.data_parallel = 4;
  CHECK_THAT(script_of(s), !ContainsSubstring("zero.") && ContainsSubstring("gradient_checkpointing_enable()"));
  s.zero_stage = 3;
  s.shard_group = 4;
  CHECK_THAT(script_of(s), ContainsSubstring("shards = HfDeepSpeedConfig(config)"));
  s.tensor_parallel = 2;
  CHECK_THAT(script_of(s), ContainsSubstring("with deepspeed.zero.Init(") && ContainsSubstring("mpu=groups"));
  s.tensor_parallel = 1;
  s.context_parallel = 2;
  s.shard_group = 8;
  CHECK_THAT(script_of(s), ContainsSubstring("sequence_parallel_size=config[\"sequence_parallel_size\"]") &&
                               ContainsSubstring("mpu=mpu"));
  Training training;
  training.adaptation.lora_rank = 8;
  CHECK_THAT(script_of(s, training), ContainsSubstring("LoraConfig(r=args.lora_r, lora_alpha=args.lora_r,"));
}

// Which release has which key: sources of 0.16.0, 0.16.9, 0.17.6, 0.18.9 and 0.19.8.
TEST_CASE("a release is not given keys that it does not have") {
  const auto refused = [](Strategy s, const Training& training, const std::string& key) {
    s.shard_group = s.zero_stage > 0 ? s.gradient_ranks() : 1;
    const LaunchSettings settings = settings_for(s, training);
    CHECK_THROWS_WITH(deepspeed_target().write(settings, "0.16.0"),
                      ContainsSubstring("DeepSpeed 0.16.0 has no " + key));
    CHECK_NOTHROW(deepspeed_target().write(settings, "0.19.8"));
  };
  Strategy s;
  s.data_parallel = 8;
  s.tensor_parallel = 2;
  refused(s, {}, "tensor_parallel.autotp_size");
  s.tensor_parallel = 1;
  s.context_parallel = 2;
  refused(s, {}, "sequence_parallel_size");
  s.context_parallel = 1;
  s.expert_parallel = 2;
  refused(s, {}, "expert_parallel.enabled");
  s.expert_parallel = 1;
  Training training;
  training.optimizer = Optimizer::muon;
  refused(s, training, "optimizer.type Muon");
  training.optimizer = Optimizer::adamw;
  training.precision = PrecisionRecipe::bf16_pure;
  refused(s, training, "bf16.bf16_master_weights_and_grads");
  CHECK_NOTHROW(deepspeed_target().write(settings_for(s, {}), "0.16.0"));
}

TEST_CASE("plans that DeepSpeed launches come back from their files") {
  Dice dice(15);
  const LaunchTarget target = deepspeed_target();
  for (int i = 0; i < 500; ++i) {
    const Strategy strategy = launchable_strategy(dice, Framework::deepspeed);
    Training training;
    training.sequence_length = 4096;
    const LaunchFiles files = target.write(settings_for(strategy, training), "0.19.8");
    const LaunchSettings back = settings_back(target, files);
    INFO(files.files.front().text);
    REQUIRE(strategy_of(back) == strategy);
    REQUIRE(back.sequence_length == 4096);
    REQUIRE(back.model == "meta-llama/Llama-3.1-8B");
    REQUIRE(target.read(files.files.front().text, "ds_config.json").notes.unread.empty());
  }
}

}  // namespace
}  // namespace plumbline
