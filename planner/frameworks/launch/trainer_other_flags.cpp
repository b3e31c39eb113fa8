#include "planner/frameworks/launch/trainer_other_flags.h"

#include <algorithm>
#include <array>

#include "planner/frameworks/launch/key_values.h"

namespace plumbline {
namespace {

constexpr std::string_view starter_source = "torch/distributed/run.py, deepspeed/launcher/runner.py";

struct Unmodelled {
  std::string_view flag;
  KeyEffect effect;
};
constexpr std::array unmodelled{Unmodelled{"--fsdp_config", KeyEffect::memory_and_time},
                                Unmodelled{"--accelerator_config", KeyEffect::memory_and_time},
                                Unmodelled{"--parallelism_config", KeyEffect::memory_and_time},
                                Unmodelled{"--tp_size", KeyEffect::memory_and_time},
                                Unmodelled{"--sharded_ddp", KeyEffect::memory_and_time},
                                Unmodelled{"--torch_compile*", KeyEffect::memory_and_time},
                                Unmodelled{"--torchdynamo", KeyEffect::memory_and_time},
                                Unmodelled{"--load_in_*", KeyEffect::decides},
                                Unmodelled{"--bnb_4bit_*", KeyEffect::memory_and_time},
                                Unmodelled{"--use_bnb_nested_quant", KeyEffect::memory},
                                Unmodelled{"--quantization*", KeyEffect::decides},
                                Unmodelled{"--torch_dtype", KeyEffect::memory},
                                Unmodelled{"--dtype", KeyEffect::memory},
                                Unmodelled{"--use_peft", KeyEffect::memory_and_time},
                                Unmodelled{"--lora_target_modules", KeyEffect::memory_and_time},
                                Unmodelled{"--use_dora", KeyEffect::memory_and_time},
                                Unmodelled{"--use_liger_*", KeyEffect::memory_and_time},
                                Unmodelled{"--packing", KeyEffect::time},
                                Unmodelled{"--padding_free", KeyEffect::time},
                                Unmodelled{"--group_by_length", KeyEffect::time},
                                Unmodelled{"--auto_find_batch_size", KeyEffect::memory_and_time},
                                Unmodelled{"--per_gpu_train_batch_size", KeyEffect::memory_and_time},
                                Unmodelled{"--activation_offloading", KeyEffect::memory_and_time},
                                Unmodelled{"--optim_target_modules", KeyEffect::memory},
                                Unmodelled{"--optim_args", KeyEffect::memory},
                                Unmodelled{"--fp16_opt_level", KeyEffect::memory},
                                Unmodelled{"--fp16_backend", KeyEffect::memory},
                                Unmodelled{"--tf32", KeyEffect::time},
                                Unmodelled{"--use_cpu", KeyEffect::memory_and_time},
                                Unmodelled{"--no_cuda", KeyEffect::memory_and_time},
                                Unmodelled{"--full_determinism", KeyEffect::time},
                                Unmodelled{"--ddp_bucket_cap_mb", KeyEffect::memory},
                                Unmodelled{"--ddp_find_unused_parameters", KeyEffect::time},
                                Unmodelled{"--torch_empty_cache_steps", KeyEffect::time},
                                Unmodelled{"--low_cpu_mem_usage", KeyEffect::none}};

constexpr std::array harmless{"--output_dir",
                              "--overwrite_*",
                              "--do_*",
                              "--eval*",
                              "--prediction_loss_only",
                              "--per_device_eval_batch_size",
                              "--per_gpu_eval_batch_size",
                              "--num_train_epochs",
                              "--lr_scheduler_*",
                              "--warmup_ratio",
                              "--adam_*",
                              "--log_*",
                              "--logging_*",
                              "--save_*",
                              "--load_best_model_at_end",
                              "--load_weights",
                              "--no-load_weights",
                              "--metric_for_best_model",
                              "--greater_is_better",
                              "--report_to",
                              "--run_name",
                              "--disable_tqdm",
                              "--data_seed",
                              "--dataloader_*",
                              "--dataset_*",
                              "--data_path",
                              "--data_args",
                              "--train_file",
                              "--train_data*",
                              "--validation_*",
                              "--max_train_samples",
                              "--max_eval_samples",
                              "--preprocessing_num_workers",
                              "--remove_unused_columns",
                              "--label_*",
                              "--length_column_name",
                              "--tokenizer_name*",
                              "--config_name",
                              "--cache_dir",
                              "--token",
                              "--use_auth_token",
                              "--use_fast_tokenizer",
                              "--model_revision",
                              "--trust_remote_code",
                              "--streaming",
                              "--chat_template*",
                              "--hub_*",
                              "--push_to_hub*",
                              "--resume_from_checkpoint",
                              "--ignore_data_skip",
                              "--ddp_timeout",
                              "--ddp_backend",
                              "--ddp_broadcast_buffers",
                              "--skip_memory_metrics",
                              "--include_*",
                              "--gradient_checkpointing_kwargs",
                              "--bf16_full_eval",
                              "--fp16_full_eval",
                              "--half_precision_backend",
                              "--neftune_noise_alpha",
                              "--average_tokens_across_devices",
                              "--jit_mode_eval",
                              "--past_index",
                              "--lora_alpha",
                              "--lora_dropout",
                              "--lora_task_type",
                              "--fsdp_transformer_layer_cls_to_wrap"};

constexpr std::array harmless_starter{"--rdzv*",
                                      "--standalone",
                                      "--node_rank",
                                      "--node-rank",
                                      "--master_addr",
                                      "--master-addr",
                                      "--master_port",
                                      "--master-port",
                                      "--max_restarts",
                                      "--max-restarts",
                                      "--monitor_interval",
                                      "--start_method",
                                      "--role",
                                      "--tee",
                                      "--log_dir",
                                      "--log-dir",
                                      "--redirects",
                                      "--local_rank",
                                      "--local-rank",
                                      "--module",
                                      "-m",
                                      "--launcher*",
                                      "--no_ssh*",
                                      "--no_local_rank",
                                      "--ssh_port",
                                      "--enable_each_rank_log",
                                      "--bind_core*",
                                      "--save_pid",
                                      "-n",
                                      "-N",
                                      "-c",
                                      "-l",
                                      "-u",
                                      "--container*",
                                      "--export",
                                      "--jobid",
                                      "--ntasks",
                                      "--wait",
                                      "--kill-on-bad-exit",
                                      "#SBATCH *"};

LaunchKey nodes_flag(std::string_view flag) {
  return {.path = flag, .source = starter_source, .read = [](const Json& v, LaunchSettings& s) {
            s.nodes = count_value(v, 1);
          }};
}

/// A node's tasks may be one process that starts the others: the larger count is of GPUs.
LaunchKey processes_flag(std::string_view flag) {
  return {.path = flag, .source = starter_source, .read = [](const Json& v, LaunchSettings& s) {
            // "auto" and "gpu" say nothing.
            if (v.if_string() == nullptr)
              s.devices_per_node = std::max(s.devices_per_node.value_or(0), count_value(v, 1));
          }};
}

}  // namespace

std::vector<LaunchKey> trainer_other_flags() {
  std::vector<LaunchKey> rows;
  for (const Unmodelled& one : unmodelled)
    rows.push_back({.path = one.flag, .source = trainer_source, .effect = one.effect});
  for (const char* const flag : harmless) rows.push_back({.path = flag, .source = run_clm_source});
  return rows;
}

std::vector<LaunchKey> starter_flags() {
  std::vector<LaunchKey> rows;
  for (const std::string_view flag : {"--nnodes", "--num_nodes", "--nodes", "#SBATCH --nodes", "#SBATCH -N"})
    rows.push_back(nodes_flag(flag));
  for (const std::string_view flag : {"--nproc-per-node", "--nproc_per_node", "--num_gpus", "--ntasks-per-node",
                                      "--gpus-per-node", "#SBATCH --ntasks-per-node", "#SBATCH --gpus-per-node"})
    rows.push_back(processes_flag(flag));
  for (const std::string_view flag : {"--hostfile", "--include", "--exclude"})
    rows.push_back({.path = flag, .source = starter_source, .effect = KeyEffect::memory_and_time});
  for (const char* const flag : harmless_starter) rows.push_back({.path = flag, .source = starter_source});
  return rows;
}

}  // namespace plumbline
