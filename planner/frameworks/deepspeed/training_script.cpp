#include "planner/frameworks/deepspeed/training_script.h"

namespace plumbline {
namespace {

constexpr std::string_view head =
    R"(# What ds_config.json needs of a training script. Put your data in the place of random_tokens.
import argparse
import json

import deepspeed
import torch
)";

constexpr std::string_view arguments = R"(
parser = argparse.ArgumentParser()
parser.add_argument("--deepspeed_config", default="ds_config.json")
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
parser.add_argument("--lora_r", type=int, default=0)
parser.add_argument("--max_steps", type=int, default=20)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()
with open(args.deepspeed_config) as file:
    config = json.load(file)
torch.manual_seed(args.seed)
deepspeed.init_distributed()
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
    model_parameters=[p for p in model.parameters() if p.requires_grad],
    config=config,
    training_data=random_tokens(args.max_seq_length),
)
for _ in range(args.max_steps):
    engine.train_batch()
)";

constexpr std::string_view tokens = R"(

def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length,))
            return {"input_ids": tokens, "labels": tokens, "position_ids": torch.arange(length)}

    return Tokens()

)";

constexpr std::string_view training = R"(engine, _, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=[p for p in model.parameters() if p.requires_grad],
    config=config,
    training_data=random_tokens(model_config.vocab_size, args.max_seq_length),$mpu
)
$adapt_loaderfor step, batch in zip(range(args.max_steps * config["gradient_accumulation_steps"]), loader):
    batch = {name: tensor.to(engine.device) for name, tensor in batch.items()}
    loss = engine(**batch).loss
    engine.backward(loss)
    engine.step()
)";

constexpr std::string_view sequence_parallel = R"(mpu = UlyssesSPAttentionHF.register_with_transformers(
    model_name_or_path=args.model_name_or_path,
    core_attn_implementation=args.attn_implementation,
    sequence_parallel_size=config["sequence_parallel_size"],
    micro_batch_size=config["train_micro_batch_size_per_gpu"],
    seq_length=args.max_seq_length,
)
)";

constexpr std::string_view sequence_parallel_data = R"(loader = UlyssesSPDataLoaderAdapter(
    loader,
    sp_rank=mpu.get_sequence_parallel_rank(),
    sp_group=mpu.get_sequence_parallel_group(),
    sp_world_size=mpu.get_sequence_parallel_world_size(),
    device=engine.device,
)
)";

std::string replaced(std::string text, std::string_view name, std::string_view value) {
  text.replace(text.find(name), name.size(), value);
  return text;
}

/// The line that makes the model, inside of what spreads its parameters as they are made.
std::string model_lines(const LaunchSettings& s) {
  const std::string made =
      "model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)\n";
  std::string text = "model_config = AutoConfig.from_pretrained(args.model_name_or_path)\n";
  if (s.zero_stage.value_or(0) < 3) return text + made;
  return text + "with deepspeed.zero.Init(config_dict_or_path=config):\n    " + made;
}

std::string whole_model(const LaunchSettings& s) {
  const bool has_sequence_parallel = s.context_parallel.value_or(1) > 1;
  const bool has_adapters = s.lora_rank.value_or(0) > 0;
  std::string text;
  if (has_sequence_parallel)
    text +=
        "from deepspeed.runtime.sequence_parallel.ulysses_sp import UlyssesSPAttentionHF, "
        "UlyssesSPDataLoaderAdapter\n";
  if (has_adapters) text += "from peft import LoraConfig, get_peft_model\n";
  text += "from transformers import AutoConfig, AutoModelForCausalLM\n";
  text += tokens;
  text += arguments;
  if (has_sequence_parallel) text += sequence_parallel;
  text += model_lines(s);
  if (has_adapters) text += "model = get_peft_model(model, LoraConfig(r=args.lora_r, target_modules=\"all-linear\"))\n";
  text +=
      "if config[\"pipeline\"][\"activation_checkpoint_interval\"] > 0:\n    model.gradient_checkpointing_enable()\n";
  std::string loop = replaced(std::string(training), "$mpu", has_sequence_parallel ? "\n    mpu=mpu," : "");
  return text + replaced(loop, "$adapt_loader", has_sequence_parallel ? sequence_parallel_data : "");
}

}  // namespace

std::string deepspeed_training_script(const LaunchSettings& settings) {
  std::string text(head);
  if (settings.pipeline_stages.value_or(1) == 1) return text + whole_model(settings);
  text += arguments;
  return text + std::string(pipeline);
}

}  // namespace plumbline
