# What ds_config.json needs of a training script. Put your data in the place of random_tokens.
import argparse
import itertools
import json
import math
import os

import deepspeed
import torch
import torch._dynamo  # not where modules are spread
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.integrations import HfDeepSpeedConfig


def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length + 1,), generator=torch.Generator().manual_seed(index))
            return {"input_ids": tokens[:-1], "labels": tokens[:-1], "shift_labels": tokens[1:], "position_ids": torch.arange(length)}

    return Tokens()

def rate_factor(schedule, steps, warmup, final):
    """The share of the peak learning rate in each step: a straight warm-up, then the schedule, down to `final`."""

    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        done = (min(step, steps) - warmup) / max(1, steps - warmup)
        if schedule == "linear":
            return 1 + (final - 1) * done
        if schedule == "cosine":
            return final + (1 - final) * (1 + math.cos(math.pi * done)) / 2
        if schedule == "inverse-sqrt":
            return math.sqrt(max(1, warmup) / (step + 1))
        return 1.0

    return factor


def decayed(parameters):
    """Matrices, and biases and norms, which no weight decay takes. What ZeRO-3 spread says its shape in ds_shape."""
    groups = {True: [], False: []}
    for parameter in parameters:
        if parameter.requires_grad:
            groups[len(getattr(parameter, "ds_shape", parameter.shape)) > 1].append(parameter)
    return [{"params": group} | ({} if decays else {"weight_decay": 0.0}) for decays, group in groups.items() if group]


def schedule(optimizer):
    factor = rate_factor(
        args.lr_scheduler_type.replace("_", "-"),
        args.lr_scheduler_kwargs.get("num_training_steps", args.max_steps),
        args.warmup_steps,
        args.lr_scheduler_kwargs.get("min_lr", 0.0) / optimizer.param_groups[0]["lr"],
    )
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)



parser = argparse.ArgumentParser()
parser.add_argument("--deepspeed_config", default="ds_config.json")
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
parser.add_argument("--load_weights", action=argparse.BooleanOptionalAction, default=False)
parser.add_argument("--lora_r", type=int, default=0)
parser.add_argument("--lr_scheduler_type", default="constant_with_warmup")
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
model_config = AutoConfig.from_pretrained(args.model_name_or_path)
setattr(model_config, "dtype" if hasattr(model_config, "dtype") else "torch_dtype", torch.float32)  # not that of the checkpoint
shards = HfDeepSpeedConfig(config)  # models are made of shards while it lives
if args.load_weights:
    model = AutoModelForCausalLM.from_pretrained(
        args.model_name_or_path, config=model_config, attn_implementation=args.attn_implementation
    )
else:
    model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)
if config["pipeline"]["activation_checkpoint_interval"] > 0:
    model.gradient_checkpointing_enable()
data = random_tokens(model_config.vocab_size, args.max_seq_length)
engine, _, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=decayed(model.parameters()),
    config=config,
    lr_scheduler=schedule,
    training_data=data,
)
if args.save_steps > 0 and os.path.exists(os.path.join(args.output_dir, "latest")):
    engine.load_checkpoint(args.output_dir)
parts = config["gradient_accumulation_steps"]
# Again and again, from behind what was read in the steps that are done.
batches = itertools.islice((batch for _ in itertools.count() for batch in loader), engine.global_steps * parts, None)
for step in range(engine.global_steps, args.max_steps):
    losses = []
    for _ in range(parts):
        batch = {name: tensor.to(engine.device) for name, tensor in next(batches).items()}
        loss = engine(**batch).loss
        engine.backward(loss)
        engine.step()
        losses.append(loss.detach())
    loss = torch.stack(losses).mean() / deepspeed.comm.get_world_size()
    deepspeed.comm.all_reduce(loss)
    if deepspeed.comm.get_rank() == 0:
        print(f"step {step + 1}: loss {loss.item():.6f}", flush=True)
    if args.save_steps > 0 and ((step + 1) % args.save_steps == 0 or step + 1 == args.max_steps):
        engine.save_checkpoint(args.output_dir)
