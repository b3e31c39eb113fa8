#include "planner/frameworks/deepspeed/training_script.h"

#include "planner/frameworks/launch/hub_model.h"
#include "planner/frameworks/launch/script_parts.h"
#include "planner/frameworks/syntax/quoting.h"

namespace plumbline {
namespace {

constexpr std::string_view head =
    R"(# What ds_config.json needs of a training script. Put your data in the place of random_tokens.
import argparse
import itertools
import json
import math
import os

import deepspeed
import torch
)";

constexpr std::string_view arguments = R"(
parser = argparse.ArgumentParser()
parser.add_argument("--deepspeed_config", default="ds_config.json")
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
$load_argumentparser.add_argument("--lora_r", type=int, default=0)
$kernel_argumentparser.add_argument("--lr_scheduler_type", default="constant_with_warmup")
parser.add_argument("--lr_scheduler_kwargs", type=json.loads, default={})
parser.add_argument("--warmup_steps", type=int, default=0)
parser.add_argument("--max_steps", type=int, default=20)
parser.add_argument("--save_steps", type=int, default=0)
parser.add_argument("--output_dir", default="checkpoints")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()
with open(args.deepspeed_config) as file:
    config = json.load(file)
torch.manual_seed(args.seed)
deepspeed.init_distributed()
)";

/// DeepSpeed itself names the newest checkpoint that is whole, in a file "latest".
constexpr std::string_view goes_on =
    R"(if args.save_steps > 0 and os.path.exists(os.path.join(args.output_dir, "latest")):
    engine.load_checkpoint(args.output_dir)
)";
constexpr std::string_view saves =
    R"(    if args.save_steps > 0 and ((step + 1) % args.save_steps == 0 or step + 1 == args.max_steps):
        engine.save_checkpoint(args.output_dir)
)";

/// The plan's schedule: DeepSpeed's own start at a rate of 0 and lag one step behind it (runtime/lr_schedules.py).
constexpr std::string_view schedule = R"(

def schedule(optimizer):
    factor = rate_factor(
        args.lr_scheduler_type.replace("_", "-"),
        args.lr_scheduler_kwargs.get("num_training_steps", args.max_steps),
        args.warmup_steps,
        args.lr_scheduler_kwargs.get("min_lr", 0.0) / optimizer.param_groups[0]["lr"],
    )
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


)";

constexpr std::string_view pipeline = R"(
# training_code is yours: layers() lists the model's layers, the first takes tokens, the last gives logits; Block is the
# class of a transformer layer; loss(logits, labels); random_tokens(length) is a data set of (tokens, labels).
from training_code import Block, layers, loss, random_tokens

model = deepspeed.pipe.PipelineModule(
    layers=layers(args),
    loss_fn=loss,
    num_stages=config["pipeline"]["stages"],
    partition_method="type:" + Block.__name__,
    activation_checkpoint_interval=config["pipeline"]["activation_checkpoint_interval"],
)
engine, _, _, _ = deepspeed.initialize(
    model=model,
    model_parameters=decayed(model.parameters()),
    config=config,
    lr_scheduler=schedule,
    training_data=random_tokens(args.max_seq_length),
)
$goes_onfor step in range(engine.global_steps, args.max_steps):
    loss = engine.train_batch().item()
    if deepspeed.comm.get_rank() == 0:
        print(f"step {step + 1}: loss {loss:.6f}", flush=True)
$saves)";

constexpr std::string_view training = R"(data = random_tokens(model_config.vocab_size, args.max_seq_length)
engine, _, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=decayed(model.parameters()),
    config=config,
    lr_scheduler=schedule,$data$mpu
)
$adapt_loader$goes_onparts = config["gradient_accumulation_steps"]
# Again and again, from behind what was read in the steps that are done.
batches = itertools.islice((batch for _ in itertools.count() for batch in loader), engine.global_steps * parts, None)
for step in range(engine.global_steps, args.max_steps):
    losses = []
    for _ in range(parts):
        batch = {name: tensor.to(engine.device) for name, tensor in next(batches).items()}
$targets        loss = engine(**batch).loss
        engine.backward(loss)
        engine.step()
        losses.append(loss.detach())
    loss = torch.stack(losses).mean() / deepspeed.comm.get_world_size()
    deepspeed.comm.all_reduce(loss)
    if deepspeed.comm.get_rank() == 0:
        print(f"step {step + 1}: loss {loss.item():.6f}", flush=True)
$saves)";

/// Without groups the configuration counts every rank as a data-parallel one (runtime/config.py: world_size).
constexpr std::string_view tensor_parallel_groups =
    R"(groups._init_tp_mesh_device(tensor_model_parallel_size=config["tensor_parallel"]["autotp_size"])
)";

constexpr std::string_view sequence_parallel = R"(mpu = UlyssesSPAttentionHF.register_with_transformers(
    model_name_or_path=args.model_name_or_path,
    core_attn_implementation=args.attn_implementation,
    sequence_parallel_size=config["sequence_parallel_size"],
    micro_batch_size=config["train_micro_batch_size_per_gpu"],
    seq_length=args.max_seq_length,
)
)";

/// Each rank reads samples of its own, which the ranks of a sequence then share: the engine's loader asks the groups
/// for data-parallel ranks, of which parallel_state_sp.py has none.
constexpr std::string_view sequence_parallel_data =
    R"(sampler = torch.utils.data.DistributedSampler(data, shuffle=False)
loader = UlyssesSPDataLoaderAdapter(
    torch.utils.data.DataLoader(data, batch_size=config["train_micro_batch_size_per_gpu"], sampler=sampler),
    sp_rank=mpu.get_sequence_parallel_rank(),
    sp_group=mpu.get_sequence_parallel_group(),
    sp_world_size=mpu.get_sequence_parallel_world_size(),
    device=engine.device,
)
)";

/// UlyssesSPDataLoaderAdapter drops `labels` and pads the last target away: the loss takes ours, one for each token.
constexpr std::string_view sequence_parallel_targets =
    R"(        batch["labels"] = batch["shift_labels"] = batch.pop("targets")
)";

std::string shared_functions() {
  return std::string(rate_factor_function()) + "\n\n" + std::string(decayed_function()) + std::string(schedule);
}

bool has_tensor_parallel(const LaunchSettings& s) { return s.tensor_parallel.value_or(1) > 1; }

bool has_sharded_model(const LaunchSettings& s) { return s.zero_stage.value_or(0) == 3; }

/// The lines that make the model; under ZeRO-3 no rank ever holds more than its shard of a random one.
std::string model_lines(const LaunchSettings& s) {
  std::string text = "model_config = AutoConfig.from_pretrained(args.model_name_or_path)\n" +
                     weight_format_line(s, "", "model_config");
  // transformers shards what it loads over all ranks, not over the data-parallel group alone: with tensor parallelism
  // a loaded model is whole until deepspeed.initialize shards it.
  if (has_sharded_model(s) && has_tensor_parallel(s))
    return text + made_model(R"(    with deepspeed.zero.Init(
        config_dict_or_path=config, mpu=groups, data_parallel_group=groups.get_data_parallel_group()
    ):
        )" + random_model());
  if (has_sharded_model(s)) text += "shards = HfDeepSpeedConfig(config)  # models are made of shards while it lives\n";
  return text + made_model("    " + random_model());
}

std::string whole_model(const LaunchSettings& s) {
  const bool has_sequence_parallel = s.context_parallel.value_or(1) > 1;
  const bool has_adapters = s.lora_rank.value_or(0) > 0;
  std::string text;
  if (has_sequence_parallel)
    text +=
        "from deepspeed.runtime.sequence_parallel.ulysses_sp import UlyssesSPAttentionHF, "
        "UlyssesSPDataLoaderAdapter\n";
  if (has_tensor_parallel(s)) text += "from deepspeed.utils import groups\n";
  text += liger_import(s);
  if (has_adapters) text += "from peft import LoraConfig, get_peft_model\n";
  text += "from transformers import AutoConfig, AutoModelForCausalLM\n";
  if (has_sharded_model(s)) text += "from transformers.integrations import HfDeepSpeedConfig\n";
  const std::string_view more = ", \"position_ids\": torch.arange(length)";
  const std::string_view targets = ", \"targets\": tokens[1:]";
  text += "\n\n" + random_tokens_function(std::string(more) + std::string(has_sequence_parallel ? targets : "")) + "\n";
  text += shared_functions();
  text += filled(arguments, {{"$kernel_argument", liger_argument(s)}, {"$load_argument", load_argument(s)}});
  if (has_sequence_parallel) text += sequence_parallel;
  if (has_tensor_parallel(s)) text += tensor_parallel_groups;
  text += model_lines(s) + liger_lines(s);
  text += adapter_line(s);
  text +=
      "if config[\"pipeline\"][\"activation_checkpoint_interval\"] > 0:\n    model.gradient_checkpointing_enable()\n";
  return text + filled(training, {{"$data", has_sequence_parallel ? "" : "\n    training_data=data,"},
                                  {"$mpu", has_sequence_parallel    ? "\n    mpu=mpu,"
                                           : has_tensor_parallel(s) ? "\n    mpu=groups,"
                                                                    : ""},
                                  {"$goes_on", goes_on},
                                  {"$saves", saves},
                                  {"$targets", has_sequence_parallel ? sequence_parallel_targets : ""},
                                  {"$adapt_loader", has_sequence_parallel ? sequence_parallel_data : ""}});
}

}  // namespace

std::string deepspeed_training_script(const LaunchSettings& settings) {
  std::string text(head);
  // ZeRO-3 catches every module that is made, and what importing dynamo makes breaks under it (PyTorch 2.13).
  if (settings.zero_stage.value_or(0) == 3) text += "import torch._dynamo  # not where modules are spread\n";
  if (settings.pipeline_stages.value_or(1) == 1) return text + whole_model(settings);
  text += "\n\n" + shared_functions();
  text += filled(arguments, {{"$kernel_argument", liger_argument(settings)}, {"$load_argument", ""}});
  return text + filled(pipeline, {{"$goes_on", goes_on}, {"$saves", saves}});
}

}  // namespace plumbline
