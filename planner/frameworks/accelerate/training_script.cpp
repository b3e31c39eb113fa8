#include "planner/frameworks/accelerate/training_script.h"

#include "planner/frameworks/launch/hub_model.h"
#include "planner/frameworks/launch/launchers.h"
#include "planner/frameworks/syntax/quoting.h"

namespace plumbline {
namespace {

constexpr std::string_view script =
    R"(# A training script for accelerate.yaml. Put your data in the place of random_tokens.
import argparse

import torch
from accelerate import Accelerator
$imports

$tokens

parser = argparse.ArgumentParser()
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
parser.add_argument("--lora_r", type=int, default=0)
$kernel_argumentparser.add_argument("--per_device_train_batch_size", type=int, required=True)
parser.add_argument("--gradient_accumulation_steps", type=int, default=1)
parser.add_argument("--gradient_checkpointing", action="store_true")
parser.add_argument("--optim", default="adamw_torch")
parser.add_argument("--learning_rate", type=float, default=1e-5)
parser.add_argument("--weight_decay", type=float, default=0.0)
parser.add_argument("--warmup_steps", type=int, default=0)
parser.add_argument("--max_grad_norm", type=float, default=0.0)
parser.add_argument("--max_steps", type=int, default=20)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

torch.manual_seed(args.seed)
accelerator = Accelerator(gradient_accumulation_steps=args.gradient_accumulation_steps)
model_config = AutoConfig.from_pretrained(args.model_name_or_path)
$format$model$kernelsif args.gradient_checkpointing:
    model.gradient_checkpointing_enable()
$adaptersoptimizer = $optimizer
loader = torch.utils.data.DataLoader(
    random_tokens(model_config.vocab_size, args.max_seq_length), batch_size=args.per_device_train_batch_size
)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / max(1, args.warmup_steps)))
model, optimizer, loader, warmup = accelerator.prepare(model, optimizer, loader, warmup)
for step, batch in zip(range(args.max_steps * args.gradient_accumulation_steps), loader):
    with accelerator.accumulate(model):
$step        if args.max_grad_norm > 0 and accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), args.max_grad_norm)
        optimizer.step()
        warmup.step()
        optimizer.zero_grad()
)";

constexpr std::string_view plain_step = R"(        accelerator.backward(model(**batch).loss)
)";

constexpr std::string_view parallel_step =
    R"(        batch["position_ids"] = torch.arange(args.max_seq_length, device=accelerator.device).unsqueeze(0)
        buffers = list(batch.values())
        with accelerator.maybe_context_parallel(
            buffers=buffers, buffer_seq_dims=[1] * len(buffers), no_restore_buffers=set(buffers)
        ):
            accelerator.backward(model(**batch).loss)
)";

std::string optimizer_call(std::optional<Optimizer> optimizer) {
  const std::string end = "lr=args.learning_rate, weight_decay=args.weight_decay)";
  const std::string begin = "(model.parameters(), ";
  switch (optimizer.value_or(Optimizer::adamw)) {
    case Optimizer::sgd: return "torch.optim.SGD" + begin + end;
    case Optimizer::momentum: return "torch.optim.SGD" + begin + "momentum=0.9, " + end;
    case Optimizer::adagrad: return "torch.optim.Adagrad" + begin + end;
    case Optimizer::rmsprop: return "torch.optim.RMSprop" + begin + end;
    case Optimizer::adam: return "torch.optim.Adam" + begin + end;
    case Optimizer::lion: return "Lion" + begin + end;
    case Optimizer::muon: return "torch.optim.Muon" + begin + end;
    case Optimizer::adamw: break;
  }
  return "torch.optim.AdamW" + begin + end;
}

std::string imports(const LaunchSettings& s) {
  std::string text;
  text += liger_import(s);
  if (s.optimizer == Optimizer::lion) text += "from lion_pytorch import Lion\n";
  if (s.lora_rank.value_or(0) > 0) text += "from peft import LoraConfig, get_peft_model\n";
  return text + "from transformers import AutoConfig, AutoModelForCausalLM\n";
}

/// Tensor parallelism splits a model as it is loaded.
std::string model_lines(const LaunchSettings& s) {
  if (s.tensor_parallel.value_or(1) == 1)
    return "model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)\n";
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

LaunchFile shell_file(const std::vector<std::string>& words, const Nodes& nodes) {
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

std::string replicas(std::string_view kind, std::int64_t count, const Nodes& nodes) {
  return "    " + std::string(kind) + ":\n      replicas: " + std::to_string(count) +
         "\n      restartPolicy: OnFailure\n      template:\n        spec:\n          containers:\n"
         "            - name: pytorch\n"
         "              image: YOUR-IMAGE  # one that holds these files and the training program\n"
         "              command: [bash, -c, \"NODE_RANK=$RANK exec ./launch.sh\"]\n"
         "              resources:\n                limits:\n                  nvidia.com/gpu: " +
         std::to_string(nodes.processes) + "\n" + std::string(shared_memory_volume);
}

/// The operator puts RANK (of the pod), MASTER_ADDR and MASTER_PORT into the environment.
LaunchFile kubeflow_file(const Nodes& nodes) {
  std::string text =
      "# kubectl apply -f job.yaml (Kubeflow's training operator).\napiVersion: kubeflow.org/v1\nkind: PyTorchJob\n"
      "metadata:\n  name: accelerate\nspec:\n  pytorchReplicaSpecs:\n" +
      replicas("Master", 1, nodes);
  if (nodes.count > 1) text += replicas("Worker", nodes.count - 1, nodes);
  return {"job.yaml", text, false};
}

}  // namespace

std::string accelerate_training_script(const LaunchSettings& s) {
  const bool has_adapters = s.lora_rank.value_or(0) > 0;
  const bool has_context_parallel = s.context_parallel.value_or(1) > 1;
  return filled(
      script,
      {{"$imports", imports(s)},
       {"$tokens", random_tokens_function(", \"shift_labels\": tokens.roll(-1)")},
       {"$format", weight_format_line(s, "", "model_config")},
       {"$model", model_lines(s)},
       {"$kernel_argument", liger_argument(s)},
       {"$kernels", liger_lines(s)},
       {"$adapters", has_adapters
                         ? "model = get_peft_model(model, LoraConfig(r=args.lora_r, target_modules=\"all-linear\"))\n"
                         : ""},
       {"$optimizer", optimizer_call(s.optimizer)},
       {"$step", has_context_parallel ? parallel_step : plain_step}});
}

std::vector<LaunchFile> accelerate_launchers(const std::vector<std::string>& words, const LaunchSettings& settings) {
  const Nodes nodes = nodes_of(settings);
  return {shell_file(words, nodes), slurm_file(nodes), kubeflow_file(nodes)};
}

}  // namespace plumbline
