// Flags of scripts that stand on Hugging Face's Trainer.

#include "planner/frameworks/launch/trainer_flags.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("a line that starts a Trainer says model, batch, precision and GPUs") {
  const Imported imported = read_trainer_script(R"(#!/bin/bash
NUM=8
deepspeed --num_gpus=$NUM --num_nodes 2 run_clm.py \
  --deepspeed ds_config.json \
  --model_name_or_path meta-llama/Llama-3.1-8B --block_size 4096 \
  --per_device_train_batch_size 2 --gradient_accumulation_steps 16 \
  --bf16 True --gradient_checkpointing --optim adamw_torch_fused \
  --attn_implementation eager --max_steps -1 --learning_rate 2e-5 --report_to none
)",
                                                "train.sh");
  const LaunchSettings& s = imported.settings;
  CHECK(s.model == "meta-llama/Llama-3.1-8B");
  CHECK(s.sequence_length == 4096);
  CHECK(s.micro_batch == 2);
  CHECK(s.micro_batches == 16);
  CHECK(s.devices_per_node == 8);
  CHECK(s.nodes == 2);
  CHECK(s.precision == PrecisionRecipe::bf16);
  CHECK(s.recompute == Recompute{RecomputeMode::full});
  CHECK(s.optimizer == Optimizer::adamw);
  CHECK(s.flash_attention == FlashAttention::off);
  CHECK_FALSE(s.recipe.steps);
  CHECK(s.recipe.learning_rate == 2e-5);
  CHECK(imported.notes.unread.empty());
  CHECK(imported.notes.ignored == 1);  // --report_to
  REQUIRE(imported.notes.other_files.size() == 1);
  CHECK(imported.notes.other_files.front().name == "ds_config.json");
}

TEST_CASE("what a variable of the environment holds stays open") {
  const Imported imported =
      read_trainer_script("torchrun --nnodes=$SLURM_NNODES --nproc-per-node=4 train.py --seed 7\n", "job.slurm");
  CHECK_FALSE(imported.settings.nodes);
  CHECK(imported.settings.devices_per_node == 4);
  CHECK(imported.settings.recipe.seed == 7);
}

TEST_CASE("flags of a Trainer that change memory or time are read or named, and unknown ones are never harmless") {
  const Imported imported = read_trainer_script(
      "torchrun --nproc_per_node 8 train.py --fsdp 'full_shard auto_wrap offload' --optim lion_8bit "
      "--torch_compile --load_in_4bit --made_up_flag 3 --output_dir out --per_device_train_batch_size $BATCH\n",
      "train.sh");
  CHECK(imported.settings.zero_stage == 3);
  CHECK(imported.settings.nodes == 1);
  CHECK_FALSE(imported.settings.optimizer);
  CHECK(imported.notes.ignored == 0);  // --output_dir is of checkpoints
  CHECK(imported.notes.unread ==
        std::vector<std::string>{
            "--torch_compile changes memory and time and is not modelled",
            "--load_in_4bit changes memory and time and is not modelled",
            "--made_up_flag is not known here: whether it changes memory or time is not known either",
            "--per_device_train_batch_size: its value $BATCH is not in the file",
            "--fsdp offload changes memory and time and is not modelled",
            "--optim lion_8bit changes memory and time and is not modelled: adamw is priced"});
}

TEST_CASE("8-bit AdamW of a Trainer is read by all its names") {
  const auto optimizer = [](const std::string& name) {
    return read_trainer_script("torchrun --nproc_per_node 8 t.py --optim " + name + "\n", "t.sh").settings.optimizer;
  };
  CHECK(optimizer("adamw_bnb_8bit") == Optimizer::adamw_8bit);
  CHECK(optimizer("adamw_8bit") == Optimizer::adamw_8bit);
  CHECK(optimizer("paged_adamw_8bit") == Optimizer::paged_adamw_8bit);
  CHECK(optimizer("paged_adamw_32bit") == std::nullopt);
  CHECK(optimizer("adamw_torch_fused") == Optimizer::adamw);
}

TEST_CASE("the sharding of a Trainer is that of its option") {
  const auto stage = [](const std::string& options) {
    return read_trainer_script("torchrun --nproc_per_node 8 t.py --fsdp '" + options + "'\n", "t.sh").settings;
  };
  CHECK(stage("shard_grad_op").zero_stage == 2);
  CHECK(stage("no_shard").zero_stage == 0);
  CHECK(stage("hybrid_shard auto_wrap").shard_group == 8);
}

TEST_CASE("Liger's kernels are a loss fused with the head, read and written") {
  const auto loss = [](const std::string& flags) {
    return read_trainer_script("torchrun --nproc_per_node 8 t.py " + flags + "\n", "t.sh").settings.choices.loss;
  };
  CHECK(loss("--use_liger_kernel True") == "fused_linear");
  CHECK(loss("--use_liger_kernel False").empty());
  CHECK(loss("--use_liger") == "fused_linear");
  CHECK(loss("--bf16").empty());
  LaunchSettings s;
  s.choices.loss = "fused_linear";
  CHECK(trainer_words(RecipePlace::config_file, s) == std::vector<std::string>{"--use_liger_kernel"});
}

TEST_CASE("flags are written as words, with the batch where no file says it") {
  LaunchSettings s;
  s.model = "gpt2";
  s.sequence_length = 1024;
  s.micro_batch = 4;
  s.micro_batches = 2;
  s.flash_attention = FlashAttention::on;
  CHECK(trainer_words(RecipePlace::config_file, s) == std::vector<std::string>{"--model_name_or_path", "gpt2",
                                                                               "--max_seq_length", "1024",
                                                                               "--attn_implementation", "sdpa"});
  CHECK(trainer_words(RecipePlace::script_flags, s).size() == 10);
  CHECK(is_script_name("a/b/train.sh"));
  CHECK_FALSE(is_script_name("ds_config.json"));
}

}  // namespace
}  // namespace plumbline
