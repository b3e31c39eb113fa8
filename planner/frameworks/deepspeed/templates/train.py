## The script that `plan export --to deepspeed` writes. `pipeline`: training_code.py of the user divides the model.
# What ds_config.json needs of a training script. Put your data in the place of random_tokens.
import argparse
import itertools
import json
import math
import os

import deepspeed
import torch
## ZeRO-3 catches every module that is made, and what importing dynamo makes breaks under it (PyTorch 2.13).
import torch._dynamo  # not where modules are spread  # plumbline: if sharded
# plumbline: if not pipeline
from deepspeed.runtime.sequence_parallel.ulysses_sp import UlyssesSPAttentionHF, UlyssesSPDataLoaderAdapter  # plumbline: if sequence_parallel
from deepspeed.utils import groups  # plumbline: if tensor_parallel
from liger_kernel.transformers import _apply_liger_kernel_to_instance  # plumbline: if fused_loss
from peft import LoraConfig, get_peft_model  # plumbline: if adapters
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.integrations import HfDeepSpeedConfig  # plumbline: if sharded


from random_tokens import random_tokens  # plumbline: random_tokens
# plumbline: else

# plumbline: end

from rate_factor import rate_factor  # plumbline: rate_factor


from decayed import decayed  # plumbline: decayed


## The plan's schedule: DeepSpeed's own start at a rate of 0 and lag one step behind it (runtime/lr_schedules.py).
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
parser.add_argument("--load_weights", action=argparse.BooleanOptionalAction, default=PLUMBLINE_LOADS_WEIGHTS)  # plumbline: if not pipeline
parser.add_argument("--lora_r", type=int, default=0)
parser.add_argument("--use_liger_kernel", action="store_true")  # plumbline: if fused_loss
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
# plumbline: if pipeline

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
# plumbline: else
# plumbline: if sequence_parallel
mpu = UlyssesSPAttentionHF.register_with_transformers(
    model_name_or_path=args.model_name_or_path,
    core_attn_implementation=args.attn_implementation,
    sequence_parallel_size=config["sequence_parallel_size"],
    micro_batch_size=config["train_micro_batch_size_per_gpu"],
    seq_length=args.max_seq_length,
)
# plumbline: end
## Without groups the configuration counts every rank as a data-parallel one (runtime/config.py: world_size).
groups._init_tp_mesh_device(tensor_model_parallel_size=config["tensor_parallel"]["autotp_size"])  # plumbline: if tensor_parallel
model_config = AutoConfig.from_pretrained(args.model_name_or_path)
setattr(model_config, "dtype" if hasattr(model_config, "dtype") else "torch_dtype", torch.PLUMBLINE_FORMAT)  # not that of the checkpoint
shards = HfDeepSpeedConfig(config)  # models are made of shards while it lives  # plumbline: if sharded_over_all
if args.load_weights:
    model = AutoModelForCausalLM.from_pretrained(
        args.model_name_or_path, config=model_config, attn_implementation=args.attn_implementation
    )
else:
    ## transformers shards what it loads over all ranks, not over the data-parallel group alone: with tensor parallelism a
    ## loaded model is whole until deepspeed.initialize shards it. No rank ever holds more than its shard of a random one.
    # plumbline: if sharded_over_groups
    with deepspeed.zero.Init(
        config_dict_or_path=config, mpu=groups, data_parallel_group=groups.get_data_parallel_group()
    ):
        model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)
    # plumbline: else
    model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)
    # plumbline: end
# plumbline: if fused_loss
## As transformers' Trainer does it (trainer.py: use_liger_kernel).
if args.use_liger_kernel:
    _apply_liger_kernel_to_instance(model=model)
# plumbline: end
# plumbline: if adapters
## alpha = r: their product is not scaled, as in `plan run`.
model = get_peft_model(
    model, LoraConfig(r=args.lora_r, lora_alpha=args.lora_r, target_modules="all-linear")
)
# plumbline: end
if config["pipeline"]["activation_checkpoint_interval"] > 0:
    model.gradient_checkpointing_enable()
data = random_tokens(model_config.vocab_size, args.max_seq_length)
engine, _, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=decayed(model.parameters()),
    config=config,
    lr_scheduler=schedule,
    training_data=data,  # plumbline: if not sequence_parallel
    mpu=PLUMBLINE_RANK_GROUPS,  # plumbline: if has_rank_groups
)
# plumbline: if sequence_parallel
## Each rank reads samples of its own, which the ranks of a sequence then share: the engine's loader asks the groups for
## data-parallel ranks, of which parallel_state_sp.py has none.
sampler = torch.utils.data.DistributedSampler(data, shuffle=False)
loader = UlyssesSPDataLoaderAdapter(
    torch.utils.data.DataLoader(data, batch_size=config["train_micro_batch_size_per_gpu"], sampler=sampler),
    sp_rank=mpu.get_sequence_parallel_rank(),
    sp_group=mpu.get_sequence_parallel_group(),
    sp_world_size=mpu.get_sequence_parallel_world_size(),
    device=engine.device,
)
# plumbline: end
# plumbline: end
## DeepSpeed itself names the newest checkpoint that is whole, in a file "latest".
if args.save_steps > 0 and os.path.exists(os.path.join(args.output_dir, "latest")):
    engine.load_checkpoint(args.output_dir)
# plumbline: if not pipeline
parts = config["gradient_accumulation_steps"]
# Again and again, from behind what was read in the steps that are done.
batches = itertools.islice((batch for _ in itertools.count() for batch in loader), engine.global_steps * parts, None)
# plumbline: end
for step in range(engine.global_steps, args.max_steps):
    # plumbline: if pipeline
    loss = engine.train_batch().item()
    if deepspeed.comm.get_rank() == 0:
        print(f"step {step + 1}: loss {loss:.6f}", flush=True)
    # plumbline: else
    losses = []
    for _ in range(parts):
        batch = {name: tensor.to(engine.device) for name, tensor in next(batches).items()}
        ## UlyssesSPDataLoaderAdapter drops `labels` and pads the last target away: the loss takes ours, one for each token.
        batch["labels"] = batch["shift_labels"] = batch.pop("targets")  # plumbline: if sequence_parallel
        loss = engine(**batch).loss
        engine.backward(loss)
        engine.step()
        losses.append(loss.detach())
    loss = torch.stack(losses).mean() / deepspeed.comm.get_world_size()
    deepspeed.comm.all_reduce(loss)
    if deepspeed.comm.get_rank() == 0:
        print(f"step {step + 1}: loss {loss.item():.6f}", flush=True)
    # plumbline: end
    if args.save_steps > 0 and ((step + 1) % args.save_steps == 0 or step + 1 == args.max_steps):
        engine.save_checkpoint(args.output_dir)
