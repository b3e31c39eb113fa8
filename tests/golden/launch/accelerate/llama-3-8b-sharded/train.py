# A training script for accelerate.yaml. Put your data in the place of random_tokens.
import argparse
import itertools
import json
import math
import os
import pathlib

import torch
from accelerate import Accelerator
from accelerate.utils import GradientAccumulationPlugin
from transformers import AutoConfig, AutoModelForCausalLM


def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length + 1,), generator=torch.Generator().manual_seed(index))
            return {"input_ids": tokens[:-1], "labels": tokens[:-1], "shift_labels": tokens[1:]}

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


parser = argparse.ArgumentParser()
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
parser.add_argument("--load_weights", action=argparse.BooleanOptionalAction, default=False)
parser.add_argument("--lora_r", type=int, default=0)
parser.add_argument("--per_device_train_batch_size", type=int, required=True)
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
setattr(model_config, "dtype" if hasattr(model_config, "dtype") else "torch_dtype", torch.float32)  # not that of the checkpoint
if args.load_weights:
    model = AutoModelForCausalLM.from_pretrained(
        args.model_name_or_path, config=model_config, attn_implementation=args.attn_implementation
    )
else:
    model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)
if args.gradient_checkpointing:
    model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(decayed(model.parameters()), lr=args.learning_rate, betas=(args.adam_beta1, args.adam_beta2), eps=args.adam_epsilon, weight_decay=args.weight_decay)
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
            loss = model(**batch).loss
            accelerator.backward(loss)
            losses.append(loss.detach())
            if args.max_grad_norm > 0 and accelerator.sync_gradients:
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
