#include "planner/frameworks/accelerate/training_script.h"

#include "planner/frameworks/launch/hub_model.h"
#include "planner/frameworks/launch/launchers.h"
#include "planner/frameworks/launch/script_parts.h"
#include "planner/frameworks/launch/torch_optimizers.h"
#include "planner/frameworks/syntax/quoting.h"

namespace plumbline {
namespace {

constexpr std::string_view script =
    R"(# A training script for accelerate.yaml. Put your data in the place of random_tokens.
import argparse
import itertools
import json
import math
import os
import pathlib

import torch
from accelerate import Accelerator
from accelerate.utils import GradientAccumulationPlugin
$imports

$tokens

$rate

$decayed

parser = argparse.ArgumentParser()
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
$load_argumentparser.add_argument("--lora_r", type=int, default=0)
$kernel_argumentparser.add_argument("--per_device_train_batch_size", type=int, required=True)
parser.add_argument("--gradient_accumulation_steps", type=int, default=1)
parser.add_argument("--gradient_checkpointing", action="store_true")
parser.add_argument("--optim", default="adamw_torch")
parser.add_argument("--learning_rate", type=float, default=1e-5)
parser.add_argument("--adam_beta1", type=float, default=0.9)
parser.add_argument("--adam_beta2", type=float, default=0.999)
parser.add_argument("--adam_epsilon", type=float, default=1e-8)
parser.add_argument("--momentum", type=float, default=0.9)
parser.add_argument("--weight_decay", type=float, default=0.0)
parser.add_argument("--lr_scheduler_type", default="constant_with_warmup")
parser.add_argument("--lr_scheduler_kwargs", type=json.loads, default={})
parser.add_argument("--warmup_steps", type=int, default=0)
parser.add_argument("--max_grad_norm", type=float, default=0.0)
parser.add_argument("--max_steps", type=int, default=20)
parser.add_argument("--save_steps", type=int, default=0)
parser.add_argument("--output_dir", type=pathlib.Path, default="checkpoints")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

torch.manual_seed(args.seed)
# FSDP's gradients are reduced behind every backward: until the last one they would be whole on every rank.
accumulation = GradientAccumulationPlugin(
    num_steps=args.gradient_accumulation_steps, sync_each_batch=os.environ.get("ACCELERATE_USE_FSDP") == "true"
)
accelerator = Accelerator(gradient_accumulation_plugin=accumulation)
model_config = AutoConfig.from_pretrained(args.model_name_or_path)
$format$model$kernelsif args.gradient_checkpointing:
    model.gradient_checkpointing_enable()
$adaptersoptimizer = $optimizer
loader = torch.utils.data.DataLoader(
    random_tokens(model_config.vocab_size, args.max_seq_length), batch_size=args.per_device_train_batch_size
)
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimizer,
    rate_factor(
        args.lr_scheduler_type.replace("_", "-"),
        args.lr_scheduler_kwargs.get("num_training_steps", args.max_steps),
        args.warmup_steps,
        args.lr_scheduler_kwargs.get("min_lr", 0.0) / args.learning_rate,
    ),
)
# The schedule is not prepared: Accelerate would step it once for every process.
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
accelerator.register_for_checkpointing(schedule)
last = args.output_dir / "last"  # names the newest checkpoint that is whole
first = int(last.read_text()) if args.save_steps > 0 and last.exists() else 0
if first > 0:
    accelerator.load_state(args.output_dir / f"step-{first}")
rest = accelerator.skip_first_batches(loader, first * args.gradient_accumulation_steps % len(loader))
batches = (batch for epoch in itertools.count() for batch in (rest if epoch == 0 else loader))
for step in range(first, args.max_steps):
    losses = []
    for _ in range(args.gradient_accumulation_steps):
        batch = next(batches)
        with accelerator.accumulate(model):
$step            if args.max_grad_norm > 0 and accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), args.max_grad_norm)
            optimizer.step()
            optimizer.zero_grad()
    schedule.step()
    loss = accelerator.reduce(torch.stack(losses).mean(), "mean")
    accelerator.print(f"step {step + 1}: loss {loss.item():.6f}", flush=True)
    if args.save_steps > 0 and ((step + 1) % args.save_steps == 0 or step + 1 == args.max_steps):
        accelerator.save_state(args.output_dir / f"step-{step + 1}")
        accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            last.write_text(str(step + 1))
)";

constexpr std::string_view plain_step = R"(            loss = model(**batch).loss
            accelerator.backward(loss)
            losses.append(loss.detach())
)";

constexpr std::string_view parallel_step =
    R"(            batch["position_ids"] = torch.arange(args.max_seq_length, device=accelerator.device).unsqueeze(0)
            buffers = list(batch.values())
            with accelerator.maybe_context_parallel(
                buffers=buffers, buffer_seq_dims=[1] * len(buffers), no_restore_buffers=set(buffers)
            ):
                loss = model(**batch).loss
                accelerator.backward(loss)
            losses.append(loss.detach())
)";

std::string optimizer_call(std::optional<Optimizer> optimizer) {
  return torch_optimizer(optimizer.value_or(Optimizer::adamw), "decayed(model.parameters())",
                         {.learning_rate = "args.learning_rate",
                          .beta1 = "args.adam_beta1",
                          .beta2 = "args.adam_beta2",
                          .epsilon = "args.adam_epsilon",
                          .momentum = "args.momentum",
                          .weight_decay = "args.weight_decay"});
}

std::string imports(const LaunchSettings& s) {
  std::string text;
  text += liger_import(s);
  text += package_import(s.optimizer);
  if (s.lora_rank.value_or(0) > 0) text += "from peft import LoraConfig, get_peft_model\n";
  return text + "from transformers import AutoConfig, AutoModelForCausalLM\n";
}

/// Tensor parallelism splits a model as it is loaded.
std::string model_lines(const LaunchSettings& s) {
  if (s.tensor_parallel.value_or(1) == 1) return made_model("    " + random_model());
  return R"(model = AutoModelForCausalLM.from_pretrained(
    args.model_name_or_path,
    config=model_config,
    torch_dtype=model_config.dtype if hasattr(model_config, "dtype") else model_config.torch_dtype,
    attn_implementation=args.attn_implementation,
    tp_size=accelerator.parallelism_config.tp_size,
    tp_plan="auto",
    device_mesh=accelerator.torch_device_mesh,
)
)";
}

struct Nodes {
  std::int64_t count = 1;
  std::int64_t processes = 1;
};

Nodes nodes_of(const LaunchSettings& s) {
  const std::int64_t devices = s.devices.value_or(1);
  const std::int64_t count = s.nodes.value_or(1);
  return {count, count < 1 ? devices : devices / count};
}

LaunchFile shell_file(const std::vector<std::string>& words, const Nodes& nodes, const LaunchSettings& s) {
  std::string text = "#!/usr/bin/env bash\n# Starts one process per GPU by accelerate.yaml.";
  if (nodes.count > 1)
    text += " Run it on every node, with NODE_RANK (0 to " + std::to_string(nodes.count - 1) +
            "),\n# MASTER_ADDR (the node of NODE_RANK 0) and MASTER_PORT in the environment.";
  text += "\nset -euo pipefail\n\nexec accelerate launch \\\n  --config_file accelerate.yaml";
  if (nodes.count > 1)
    text +=
        " \\\n  --machine_rank \"${NODE_RANK:?is the number of this node}\""
        " \\\n  --main_process_ip \"${MASTER_ADDR:?is the address of the node of NODE_RANK 0}\""
        " \\\n  --main_process_port \"${MASTER_PORT:-29500}\"";
  if (nodes.count == 1 && can_restart(s)) text += " \\\n  --max_restarts " + std::to_string(most_restarts);
  text += " \\\n  train.py";
  for (const std::string& word : words) text += (word.starts_with("--") ? " \\\n  " : " ") + shell_quoted(word);
  return {"launch.sh", text + "\n", true};
}

LaunchFile slurm_file(const Nodes& nodes) {
  return {"job.slurm",
          "#!/usr/bin/env bash\n#SBATCH --nodes=" + std::to_string(nodes.count) +
              "\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=" + std::to_string(nodes.processes) +
              "\n#SBATCH --exclusive\nset -euo pipefail\n\n"
              "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nexport MASTER_ADDR\n"
              "srun bash -c 'NODE_RANK=$SLURM_NODEID exec ./launch.sh'\n",
          true};
}

std::string replicas(std::string_view kind, std::int64_t count, const Nodes& nodes, const LaunchSettings& s) {
  return "    " + std::string(kind) + ":\n      replicas: " + std::to_string(count) +
         "\n      restartPolicy: " + std::string(restart_policy(s)) +
         "\n      template:\n        spec:\n          containers:\n"
         "            - name: pytorch\n"
         "              image: YOUR-IMAGE  # one that holds these files and the training program\n"
         "              command: [bash, -c, \"NODE_RANK=$RANK exec ./launch.sh\"]\n"
         "              resources:\n                limits:\n                  nvidia.com/gpu: " +
         std::to_string(nodes.processes) + "\n" + std::string(shared_memory_volume);
}

/// The operator puts RANK (of the pod), MASTER_ADDR and MASTER_PORT into the environment.
LaunchFile kubeflow_file(const Nodes& nodes, const LaunchSettings& s) {
  std::string text =
      "# kubectl apply -f job.yaml (Kubeflow's training operator).\napiVersion: kubeflow.org/v1\nkind: PyTorchJob\n"
      "metadata:\n  name: accelerate\nspec:\n  pytorchReplicaSpecs:\n" +
      replicas("Master", 1, nodes, s);
  if (nodes.count > 1) text += replicas("Worker", nodes.count - 1, nodes, s);
  return {"job.yaml", text, false};
}

}  // namespace

std::string accelerate_training_script(const LaunchSettings& s) {
  const bool has_context_parallel = s.context_parallel.value_or(1) > 1;
  return filled(script, {{"$imports", imports(s)},
                         {"$tokens", random_tokens_function("")},
                         {"$rate", rate_factor_function()},
                         {"$decayed", decayed_function()},
                         {"$format", weight_format_line(s, "", "model_config")},
                         {"$model", model_lines(s)},
                         {"$kernel_argument", liger_argument(s)},
                         {"$kernels", liger_lines(s)},
                         {"$load_argument", load_argument(s)},
                         {"$adapters", adapter_line(s)},
                         {"$optimizer", optimizer_call(s.optimizer)},
                         {"$step", has_context_parallel ? parallel_step : plain_step}});
}

std::vector<LaunchFile> accelerate_launchers(const std::vector<std::string>& words, const LaunchSettings& settings) {
  const Nodes nodes = nodes_of(settings);
  return {shell_file(words, nodes, settings), slurm_file(nodes), kubeflow_file(nodes, settings)};
}

}  // namespace plumbline
