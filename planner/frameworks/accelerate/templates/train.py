## The script that `plan export --to accelerate` writes.
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
from liger_kernel.transformers import _apply_liger_kernel_to_instance  # plumbline: if fused_loss
from bitsandbytes.optim import GlobalOptimManager  # plumbline: if quantized_states
from torch.optim import AdamW  # plumbline: optimizer_import
from peft import LoraConfig, get_peft_model  # plumbline: if adapters
from transformers import AutoConfig, AutoModelForCausalLM


from random_tokens import random_tokens  # plumbline: random_tokens


from rate_factor import rate_factor  # plumbline: rate_factor


from decayed import decayed  # plumbline: decayed


parser = argparse.ArgumentParser()
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
parser.add_argument("--load_weights", action=argparse.BooleanOptionalAction, default=PLUMBLINE_LOADS_WEIGHTS)
parser.add_argument("--lora_r", type=int, default=0)
parser.add_argument("--use_liger_kernel", action="store_true")  # plumbline: if fused_loss
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
setattr(model_config, "dtype" if hasattr(model_config, "dtype") else "torch_dtype", torch.PLUMBLINE_FORMAT)  # not that of the checkpoint
# plumbline: if tensor_parallel
## It splits a model as it is loaded.
model = AutoModelForCausalLM.from_pretrained(
    args.model_name_or_path,
    config=model_config,
    torch_dtype=model_config.dtype if hasattr(model_config, "dtype") else model_config.torch_dtype,
    attn_implementation=args.attn_implementation,
    tp_size=accelerator.parallelism_config.tp_size,
    tp_plan="auto",
    device_mesh=accelerator.torch_device_mesh,
)
# plumbline: else
if args.load_weights:
    model = AutoModelForCausalLM.from_pretrained(
        args.model_name_or_path, config=model_config, attn_implementation=args.attn_implementation
    )
else:
    model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)
# plumbline: end
# plumbline: if fused_loss
## As transformers' Trainer does it (trainer.py: use_liger_kernel).
if args.use_liger_kernel:
    _apply_liger_kernel_to_instance(model=model)
# plumbline: end
if args.gradient_checkpointing:
    model.gradient_checkpointing_enable()
# plumbline: if adapters
## alpha = r: their product is not scaled, as in `plan run`.
model = get_peft_model(
    model, LoraConfig(r=args.lora_r, lora_alpha=args.lora_r, target_modules="all-linear")
)
# plumbline: end
# plumbline: if quantized_states
# As transformers' Trainer has it, embeddings keep states in 32 bits.
for module in model.modules():
    if isinstance(module, torch.nn.Embedding):
        GlobalOptimManager.get_instance().register_module_override(module, "weight", {"optim_bits": 32})
# plumbline: end
optimizer = PLUMBLINE_OPTIMIZER
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
            # plumbline: if context_parallel
            batch["position_ids"] = torch.arange(args.max_seq_length, device=accelerator.device).unsqueeze(0)
            buffers = list(batch.values())
            with accelerator.maybe_context_parallel(
                buffers=buffers, buffer_seq_dims=[1] * len(buffers), no_restore_buffers=set(buffers)
            ):
                loss = model(**batch).loss
                accelerator.backward(loss)
            losses.append(loss.detach())
            # plumbline: else
            loss = model(**batch).loss
            accelerator.backward(loss)
            losses.append(loss.detach())
            # plumbline: end
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
