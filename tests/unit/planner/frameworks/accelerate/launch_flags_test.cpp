// The command line of `accelerate launch`.

#include "planner/frameworks/accelerate/launch_flags.h"

#include <algorithm>

#include "core/base/errors.h"
#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Imported launched(const std::string& flags) {
  return accelerate_target().read("accelerate launch " + flags + " train.py --bf16 True\n", "train.sh");
}

bool names(const Imported& imported, std::string_view beginning) {
  const std::vector<std::string>& all = imported.notes.unread;
  return std::any_of(all.begin(), all.end(), [&](const std::string& one) { return one.starts_with(beginning); });
}

TEST_CASE("DeepSpeed's ZeRO stage and offload stand on the command line") {
  const Imported imported = launched(
      "--use_deepspeed --zero_stage 3 --offload_optimizer_device cpu --offload_param_device none "
      "--gradient_accumulation_steps 4 --num_processes 16 --num_machines 2 --zero3_init_flag true");
  CHECK(imported.settings.zero_stage == 3);
  CHECK(imported.settings.micro_batches == 4);
  CHECK(imported.settings.devices == 16);
  CHECK(imported.settings.nodes == 2);
  CHECK(imported.settings.precision == PrecisionRecipe::bf16);
  CHECK(imported.notes.unread ==
        std::vector<std::string>{"--offload_optimizer_device changes memory and time and is not modelled"});
  CHECK(launched("--use_deepspeed --num_processes 8").settings.zero_stage == 2);
}

TEST_CASE("FSDP's strategy and axes stand on the command line") {
  const Imported imported = launched(
      "--use_fsdp --num_processes 8 --mixed_precision fp16 --fsdp_version 2 --fsdp_sharding_strategy FULL_SHARD "
      "--fsdp_activation_checkpointing true --parallelism_config_tp_size 2 --fsdp_offload_params false");
  CHECK(imported.settings.zero_stage == 3);
  CHECK(imported.settings.tensor_parallel == 2);
  CHECK(imported.settings.recompute == Recompute{RecomputeMode::full});
  CHECK(imported.notes.unread.empty());
  CHECK(launched("--use_fsdp --fsdp_sharding_strategy SHARD_GRAD_OP").settings.zero_stage == 2);
  CHECK(launched("--multi_gpu").settings.zero_stage == 0);
}

TEST_CASE("what is not modelled on the command line is named") {
  const Imported imported =
      launched("--use_fsdp --fsdp_offload_params true --dynamo_backend inductor --made_up 3 --config_file a.yaml");
  CHECK(names(imported, "--fsdp_offload_params changes memory and time"));
  CHECK(names(imported, "--dynamo_backend changes memory and time"));
  CHECK(names(imported, "--made_up is not known here"));
  CHECK(imported.notes.other_files.front().name == "a.yaml");
  CHECK_THROWS_AS(launched("--use_fsdp --fsdp_sharding_strategy SOME"), InputError);
}

}  // namespace
}  // namespace plumbline
