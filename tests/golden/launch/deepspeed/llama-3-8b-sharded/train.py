# What ds_config.json needs of a training script. Put your data in the place of random_tokens.
import argparse
import itertools
import json
import os

import deepspeed
import torch
import torch._dynamo  # not inside of zero.Init
from transformers import AutoConfig, AutoModelForCausalLM


def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length,), generator=torch.Generator().manual_seed(index))
            return {"input_ids": tokens, "labels": tokens, "position_ids": torch.arange(length)}

    return Tokens()


parser = argparse.ArgumentParser()
parser.add_argument("--deepspeed_config", default="ds_config.json")
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
parser.add_argument("--lora_r", type=int, default=0)
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
model_config = AutoConfig.from_pretrained(args.model_name_or_path)
setattr(model_config, "dtype" if hasattr(model_config, "dtype") else "torch_dtype", torch.float32)  # not that of the checkpoint
with deepspeed.zero.Init(config_dict_or_path=config):
    model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)
if config["pipeline"]["activation_checkpoint_interval"] > 0:
    model.gradient_checkpointing_enable()
data = random_tokens(model_config.vocab_size, args.max_seq_length)
engine, _, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=[p for p in model.parameters() if p.requires_grad],
    config=config,
    training_data=data,
)
if args.save_steps > 0 and os.path.exists(os.path.join(args.output_dir, "latest")):
    engine.load_checkpoint(args.output_dir)
parts = config["gradient_accumulation_steps"]
# Again and again, from behind what was read in the steps that are done.
batches = itertools.islice((batch for _ in itertools.count() for batch in loader), engine.global_steps * parts, None)
for step in range(engine.global_steps, args.max_steps):
    for _ in range(parts):
        batch = {name: tensor.to(engine.device) for name, tensor in next(batches).items()}
        loss = engine(**batch).loss
        engine.backward(loss)
        engine.step()
    if args.save_steps > 0 and ((step + 1) % args.save_steps == 0 or step + 1 == args.max_steps):
        engine.save_checkpoint(args.output_dir)
