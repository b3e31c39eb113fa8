// Accelerate's YAML in both directions, and the script and launcher beside it.

#include "planner/frameworks/launch/launch_target.h"

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/launch_round_trip.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

LaunchFiles written(const Strategy& strategy, std::string_view release = "1.15.0", const Training& training = {}) {
  return accelerate_target().write(settings_for(strategy, training), release);
}

std::string yaml_of(const Strategy& strategy, std::string_view release = "1.15.0") {
  return written(strategy, release).files.front().text;
}

Imported imported(std::string_view yaml) { return accelerate_target().read(yaml, "accelerate.yaml"); }

Strategy sharded(std::int32_t stage, std::int32_t ranks) {
  Strategy s;
  s.data_parallel = s.shard_group = ranks;
  s.zero_stage = stage;
  return s;
}

TEST_CASE("ZeRO-3 is FSDP2 that reshards after forward") {
  Strategy s = sharded(3, 8);
  s.recompute = Recompute{RecomputeMode::full};
  CHECK(yaml_of(s) ==
        "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nmixed_precision: bf16\nnum_machines: 1\n"
        "num_processes: 8\nmachine_rank: 0\nmain_training_function: main\nrdzv_backend: static\nsame_network: true\n"
        "downcast_bf16: 'no'\nuse_cpu: false\nfsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: true\n"
        "  fsdp_activation_checkpointing: true\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
        "  fsdp_offload_params: false\n  fsdp_state_dict_type: SHARDED_STATE_DICT\n");
  CHECK_THAT(yaml_of(sharded(2, 8)), ContainsSubstring("fsdp_reshard_after_forward: false"));
}

TEST_CASE("before 1.6.0 sharding is a strategy of FSDP") {
  CHECK_THAT(yaml_of(sharded(3, 8), "1.5.2"),
             ContainsSubstring("fsdp_sharding_strategy: FULL_SHARD") && !ContainsSubstring("fsdp_version"));
  CHECK_THAT(yaml_of(sharded(2, 8), "1.5.2"), ContainsSubstring("fsdp_sharding_strategy: SHARD_GRAD_OP"));
  CHECK_THAT(yaml_of(sharded(3, 8), "1.9.0"), ContainsSubstring("fsdp_version: 2"));
  Strategy tensor = sharded(3, 8);
  tensor.tensor_parallel = 2;
  CHECK_THROWS_WITH(written(tensor, "1.9.0"), ContainsSubstring("Accelerate 1.9.0 has no parallelism_config"));
  LaunchSettings hybrid = settings_for(sharded(3, 16), Training{});
  hybrid.shard_group = hybrid.devices_per_node = 8;
  hybrid.nodes = 2;
  const LaunchFiles files = accelerate_target().write(hybrid, "1.5.2");
  CHECK_THAT(files.files.front().text, ContainsSubstring("fsdp_sharding_strategy: HYBRID_SHARD"));
  CHECK(imported(files.files.front().text).settings.shard_group == 8);
}

TEST_CASE("ZeRO-1 is DeepSpeed's plugin, and no sharding is DDP") {
  Strategy s = sharded(1, 4);
  s.micro_batches = 3;
  CHECK_THAT(yaml_of(s),
             ContainsSubstring("distributed_type: DEEPSPEED") &&
                 ContainsSubstring("deepspeed_config:\n  zero_stage: 1\n  gradient_accumulation_steps: 3\n"));
  CHECK_THAT(yaml_of(sharded(0, 4)), ContainsSubstring("distributed_type: MULTI_GPU"));
  CHECK_THAT(yaml_of(Strategy{}), ContainsSubstring("distributed_type: 'NO'"));
}

// 2 replicas of 3 sharded ranks of 2 context-parallel ranks: a shard group of 6; 24 processes with tp 2.
TEST_CASE("axes have a section of their own") {
  Strategy s = sharded(3, 6);
  s.tensor_parallel = 2;
  s.context_parallel = 2;
  s.shard_group = 6;
  const std::string yaml = yaml_of(s);
  CHECK_THAT(yaml, ContainsSubstring("num_processes: 24\n") &&
                       ContainsSubstring("parallelism_config_tp_size: 2\n  parallelism_config_cp_size: 2\n"
                                         "  parallelism_config_dp_replicate_size: 2\n"
                                         "  parallelism_config_dp_shard_size: 3\n"));
  const LaunchSettings back = imported(yaml).settings;
  CHECK(back.shard_group == 6);
  CHECK(back.data_parallel == 6);
  CHECK(back.context_parallel == 2);
}

TEST_CASE("ranks that DeepSpeed's Ulysses divides a sequence over are read; FSDP2's exchange no heads") {
  const LaunchSettings s =
      imported("num_processes: 8\nparallelism_config:\n  parallelism_config_sp_size: 4\n").settings;
  CHECK(s.context_parallel == 4);
  CHECK(s.context_communication == ContextCommunication::all_to_all);
  Strategy exchanging = sharded(3, 4);
  exchanging.context_parallel = 2;
  exchanging.shard_group = 8;
  CHECK(inexpressible(Framework::accelerate, exchanging, {}).empty());
  exchanging.context_communication = ContextCommunication::all_to_all;
  CHECK(inexpressible(Framework::accelerate, exchanging, {}) ==
        std::vector<std::string>{"Accelerate has no context parallelism by all-to-all"});
}

TEST_CASE("recompute is FSDP's own, or a flag of the script") {
  Strategy s = sharded(3, 8);
  s.recompute = Recompute{RecomputeMode::full};
  CHECK_THAT(file_called(written(s), "launch.sh").text, !ContainsSubstring("--gradient_checkpointing"));
  s.zero_stage = 1;
  CHECK_THAT(file_called(written(s), "launch.sh").text, ContainsSubstring("--gradient_checkpointing"));
}

// examples/config_yaml_templates/fsdp.yaml and examples/torch_native_parallelism/configs/tp_hsdp.yaml of
// huggingface/accelerate, 1a6af0bd and 571ca020: their values.
TEST_CASE("values of Accelerate's own examples are understood") {
  const Imported first = imported(
      "distributed_type: FSDP\nmixed_precision: 'bf16'\nnum_processes: 2\nfsdp_config:\n"
      "  fsdp_activation_checkpointing: false\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
      "  fsdp_backward_prefetch: BACKWARD_PRE\n  fsdp_cpu_ram_efficient_loading: true\n"
      "  fsdp_forward_prefetch: false\n  fsdp_offload_params: false\n  fsdp_sharding_strategy: FULL_SHARD\n"
      "  fsdp_state_dict_type: SHARDED_STATE_DICT\n  fsdp_sync_module_states: true\n  fsdp_use_orig_params: true\n");
  CHECK(first.settings.zero_stage == 3);
  CHECK(first.settings.devices == 2);
  CHECK(first.settings.precision == PrecisionRecipe::bf16);
  CHECK(first.settings.recompute == Recompute{});
  CHECK(first.notes.unread.empty());
  LaunchSettings second =
      imported(
          "debug: false\ndistributed_type: FSDP\ndowncast_bf16: 'no'\nenable_cpu_affinity: false\nfsdp_config:\n"
          "  fsdp_reshard_after_forward: true\n  fsdp_version: 2\nmachine_rank: 0\nmixed_precision: bf16\n"
          "num_machines: 1\nnum_processes: 8\nparallelism_config:\n  parallelism_config_cp_size: 1\n"
          "  parallelism_config_dp_replicate_size: 2\n  parallelism_config_dp_shard_size: 2\n"
          "  parallelism_config_tp_size: 2\ntpu_env: []\ntpu_use_cluster: false\nuse_cpu: false\n")
          .settings;
  derive_missing(second);
  CHECK(strategy_of(second).data_parallel == 4);
  CHECK(strategy_of(second).shard_group == 2);
  CHECK(strategy_of(second).tensor_parallel == 2);
}

TEST_CASE("what Accelerate does where a file is silent is what is read") {
  CHECK(imported("distributed_type: FSDP\n").settings.zero_stage == 3);
  CHECK(imported("distributed_type: FSDP\n").settings.precision == PrecisionRecipe::fp32);
  CHECK(imported("distributed_type: DEEPSPEED\n").settings.zero_stage == 2);
  CHECK(imported("distributed_type: MULTI_GPU\nmixed_precision: no\n").settings.zero_stage == 0);
  const Imported elsewhere =
      imported("distributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: z3.json\n");
  CHECK_FALSE(elsewhere.settings.zero_stage);
  CHECK_FALSE(elsewhere.settings.precision);
  REQUIRE(elsewhere.notes.other_files.size() == 1);
  CHECK(elsewhere.notes.other_files.front().key == "deepspeed_config.deepspeed_config_file");
  CHECK(elsewhere.notes.other_files.front().name == "z3.json");
}

TEST_CASE("torch.autocast keeps 32-bit gradients where nothing is sharded") {
  for (const char* const precision : {"fp16", "bf16"}) {
    const std::string mixed = std::string("mixed_precision: ") + precision + "\n";
    CHECK(imported("distributed_type: MULTI_GPU\n" + mixed).settings.gradient_format == NumberFormat::fp32);
    CHECK(imported("distributed_type: 'NO'\n" + mixed).settings.gradient_format == NumberFormat::fp32);
    CHECK_FALSE(imported("distributed_type: FSDP\n" + mixed).settings.gradient_format);
    CHECK_FALSE(
        imported("distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 0\n" + mixed).settings.gradient_format);
  }
  CHECK_FALSE(imported("distributed_type: MULTI_GPU\nmixed_precision: no\n").settings.gradient_format);
  CHECK(accelerate_target()
            .read("accelerate launch --multi_gpu --mixed_precision bf16 train.py\n", "train.sh")
            .settings.gradient_format == NumberFormat::fp32);
}

TEST_CASE("offload and other back ends are named or refused") {
  CHECK(imported("distributed_type: FSDP\nfsdp_config:\n  fsdp_offload_params: true\n").notes.unread ==
        std::vector<std::string>{"fsdp_config.fsdp_offload_params changes memory and time and is not modelled"});
  CHECK_THROWS_WITH(imported("distributed_type: MEGATRON_LM\n"),
                    ContainsSubstring("distributed_type: found \"MEGATRON_LM\"") &&
                        ContainsSubstring("NO, MULTI_GPU, FSDP or DEEPSPEED"));
  CHECK_THROWS_WITH(imported("distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: SOME\n"),
                    ContainsSubstring("FULL_SHARD"));
}

TEST_CASE("plans that Accelerate launches come back from their files") {
  Dice dice(16);
  const LaunchTarget target = accelerate_target();
  for (int i = 0; i < 500; ++i) {
    const Strategy strategy = launchable_strategy(dice, Framework::accelerate);
    Training training;
    training.sequence_length = 2048;
    training.optimizer = dice.one_of({Optimizer::adamw, Optimizer::adam, Optimizer::sgd, Optimizer::momentum,
                                      Optimizer::lion, Optimizer::muon, Optimizer::adagrad, Optimizer::rmsprop,
                                      Optimizer::adamw_8bit, Optimizer::paged_adamw_8bit});
    const LaunchFiles files = target.write(settings_for(strategy, training), "1.15.0");
    const LaunchSettings back = settings_back(target, files);
    INFO(files.files.front().text << file_called(files, "launch.sh").text);
    REQUIRE(strategy_of(back) == strategy);
    REQUIRE(back.optimizer == training.optimizer);
    REQUIRE(back.sequence_length == 2048);
    REQUIRE(target.read(files.files.front().text, "accelerate.yaml").notes.unread.empty());
  }
}

TEST_CASE("a script with 8-bit AdamW leaves embeddings in 32 bits, as the Trainer does") {
  Training training;
  training.sequence_length = 2048;
  const auto script = [&](Optimizer optimizer) {
    training.optimizer = optimizer;
    return file_called(accelerate_target().write(settings_for({}, training), "1.15.0"), "train.py").text;
  };
  const std::string quantized = script(Optimizer::paged_adamw_8bit);
  CHECK_THAT(quantized, ContainsSubstring("from bitsandbytes.optim import PagedAdamW8bit\n"));
  CHECK_THAT(quantized, ContainsSubstring("optimizer = PagedAdamW8bit(decayed(model.parameters()), lr="));
  CHECK_THAT(quantized, ContainsSubstring("register_module_override(module, \"weight\", {\"optim_bits\": 32})"));
  CHECK(script(Optimizer::adamw).find("bitsandbytes") == std::string::npos);
}

}  // namespace
}  // namespace plumbline
