# Trains llama-3-8b on 8 GPUs as planned: torchrun ... train.py. The network is a stand-in: put yours in the place of Block.
PIPELINE_STAGES = 1
VIRTUAL_STAGES = 1
SCHEDULE = ""
SCHEDULE_FILE = ""
SCHEDULE_IS_V = False
LAYERS = [32]
TENSOR_PARALLEL = 1
SEQUENCE_PARALLEL = False
DATA_PARALLEL = 8
SHARD_GROUP = 8
LAYERS_PER_UNIT = 1
ZERO_STAGE = 3
MICRO_BATCH = 1
MICRO_BATCHES = 8
SEQUENCE_LENGTH = 4096
RECOMPUTE_EVERY = 1
FLASH_ATTENTION = True
PRECISION = "bf16"
OPTIMIZER = "adamw"
STEPS = None
SEED = None
LEARNING_RATE = None
FINAL_LEARNING_RATE = None
LR_SCHEDULE = None
SCHEDULE_STEPS = None
WARMUP_STEPS = None
CLIP = None
BETA1 = None
BETA2 = None
EPSILON = None
MOMENTUM = None
WEIGHT_DECAY = None
CHECKPOINT = None
CHECKPOINT_EVERY = None

import math
import os
import pathlib

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import PipelineScheduleMulti, _PipelineScheduleRuntime, get_schedule_class
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel,
                                               parallelize_module)
from torch.nn.parallel import DistributedDataParallel

CHUNKS = PIPELINE_STAGES * VIRTUAL_STAGES


# A small decoder in the place of yours: replace it, and keep the names or change them in split_tensors().
class Block(nn.Module):
    def __init__(self, width=64, head=16):
        super().__init__()
        self.head = head
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.mlp = nn.ModuleDict({"up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)})

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = (linear(h).unflatten(-1, (-1, self.head)).transpose(1, 2) for linear in (self.q, self.k, self.v))
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp["down"](F.gelu(self.mlp["up"](self.norm2(x))))


class Chunk(nn.Module):
    """What one pipeline chunk holds: its layers, the embedding in the first and the head in the last."""

    def __init__(self, index, width=64, vocabulary=256):
        super().__init__()
        first = sum(LAYERS[:index])
        self.embedding = nn.Embedding(vocabulary, width) if index == 0 else None
        self.layers = nn.ModuleDict({str(i): Block(width) for i in range(first, first + LAYERS[index])})
        self.norm = nn.LayerNorm(width) if index == CHUNKS - 1 else None
        self.head = nn.Linear(width, vocabulary) if index == CHUNKS - 1 else None

    def forward(self, x):
        x = self.embedding(x) if self.embedding is not None else x
        for layer in self.layers.values():
            x = layer(x)
        return self.head(self.norm(x)) if self.head is not None else x


def batches(device):
    """One step's sequences of a data-parallel rank: replace by your data."""
    size = (MICRO_BATCH * MICRO_BATCHES, SEQUENCE_LENGTH)
    while True:
        yield torch.randint(0, 256, size, device=device), torch.randint(0, 256, size, device=device)


def loss_of(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def split_tensors(chunk, mesh):
    """Tensor parallelism: columns of the first linear, rows of the second."""
    inside = Shard(1) if SEQUENCE_PARALLEL else Replicate()
    rows = dict(output_layouts=inside)
    for layer in chunk.layers.values():
        plan = {name: ColwiseParallel(input_layouts=inside) for name in ("q", "k", "v", "mlp.up")}
        plan |= {name: RowwiseParallel(**rows) for name in ("o", "mlp.down")}
        if SEQUENCE_PARALLEL:
            plan |= {name: SequenceParallel(use_local_output=True) for name in ("norm1", "norm2")}
        parallelize_module(layer, mesh, plan)
    if chunk.embedding is not None:
        parallelize_module(chunk, mesh, {"embedding": RowwiseParallel(input_layouts=Replicate(), **rows)})
    if chunk.head is not None:
        plan = {"head": ColwiseParallel(input_layouts=inside, output_layouts=Replicate())}
        if SEQUENCE_PARALLEL:
            plan["norm"] = SequenceParallel(use_local_output=True)
        parallelize_module(chunk, mesh, plan)


def recompute(chunk):
    for name, layer in list(chunk.layers.items()):
        if RECOMPUTE_EVERY and int(name) % RECOMPUTE_EVERY == 0:
            chunk.layers[name] = checkpoint_wrapper(layer)


def shard(chunk, mesh):
    """FSDP2 over the shard group (replicated over the others), or DDP."""
    if ZERO_STAGE == 0:
        if DATA_PARALLEL == 1:
            return chunk
        return DistributedDataParallel(chunk, process_group=mesh["replicate"].get_group())
    options = {"mesh": mesh["replicate", "shard"] if DATA_PARALLEL > SHARD_GROUP else mesh["shard"],
               "reshard_after_forward": ZERO_STAGE == 3}
    if PRECISION == "bf16":
        options["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    layers = list(chunk.layers.values())
    for first in range(0, len(layers), LAYERS_PER_UNIT):
        fully_shard(layers[first : first + LAYERS_PER_UNIT], **options)
    return fully_shard(chunk, **options)


def stages_of(rank):
    """Chunks of a pipeline rank: looped, or a V."""
    if SCHEDULE_IS_V:
        return [rank, CHUNKS - 1 - rank]
    return [rank + i * PIPELINE_STAGES for i in range(VIRTUAL_STAGES)]


def pipeline(chunks, rank, mesh, device):
    group = mesh["pp"].get_group()
    stages = [PipelineStage(chunk, index, CHUNKS, device, group=group) for chunk, index in zip(chunks, stages_of(rank))]
    options = {"n_microbatches": MICRO_BATCHES, "loss_fn": loss_of}
    if SCHEDULE_FILE:
        schedule = _PipelineScheduleRuntime(stages, **options)
        schedule._load_csv(SCHEDULE_FILE)
        return schedule
    kind = get_schedule_class(SCHEDULE)
    return kind(stages if issubclass(kind, PipelineScheduleMulti) else stages[0], **options)


def step_without_pipeline(model, inputs, targets):
    total = 0
    for i, (x, y) in enumerate(zip(inputs.chunk(MICRO_BATCHES), targets.chunk(MICRO_BATCHES))):
        is_last = i + 1 == MICRO_BATCHES
        if ZERO_STAGE > 0:
            model.set_requires_gradient_sync(is_last)
        elif DATA_PARALLEL > 1:
            model.require_backward_grad_sync = is_last
        loss = loss_of(model(x), y) / MICRO_BATCHES
        loss.backward()
        total += loss.item()
    return total


def said(value, otherwise):
    """A constant of the recipe, where the plan says it."""
    return otherwise if value is None else value


PEAK = float(os.environ.get("LEARNING_RATE", said(LEARNING_RATE, 3e-4)))
ALL_STEPS = int(os.environ.get("STEPS", said(STEPS, 10)))


def optimizer_of(parameters):
    betas = (said(BETA1, 0.9), said(BETA2, 0.999))
    numbers = {"lr": PEAK} | ({} if WEIGHT_DECAY is None else {"weight_decay": WEIGHT_DECAY})
    adaptive = numbers | ({} if EPSILON is None else {"eps": EPSILON})
    return {"adamw": lambda: torch.optim.AdamW(parameters, betas=betas, **adaptive),
            "adam": lambda: torch.optim.Adam(parameters, betas=betas, **adaptive),
            "sgd": lambda: torch.optim.SGD(parameters, **numbers),
            "momentum": lambda: torch.optim.SGD(parameters, momentum=said(MOMENTUM, 0.9), **numbers),
            "adagrad": lambda: torch.optim.Adagrad(parameters, **adaptive),
            "rmsprop": lambda: torch.optim.RMSprop(parameters, alpha=said(BETA2, 0.99), **adaptive)}[OPTIMIZER]()


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


def set_rate(optimizer, step):
    factor = rate_factor(LR_SCHEDULE, said(SCHEDULE_STEPS, ALL_STEPS), said(WARMUP_STEPS, 0),
                         said(FINAL_LEARNING_RATE, 0.0) / PEAK)
    for group in optimizer.param_groups:
        group["lr"] = PEAK * factor(step)


def clip(parameters, pipeline_group):
    """By the norm of all gradients, those of the other pipeline stages among them."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norms = [torch.linalg.vector_norm(gradient) for gradient in gradients]
    square = torch.stack([norm.full_tensor() if isinstance(norm, DTensor) else norm for norm in norms]).float().square().sum()
    if PIPELINE_STAGES > 1:
        dist.all_reduce(square, group=pipeline_group)
    factor = CLIP / (square.sqrt().item() + 1e-6)
    for gradient in gradients if factor < 1 else []:
        gradient.mul_(factor)


class Checkpoints:
    """Of all ranks, by torch.distributed.checkpoint; the file "last" names the newest that is whole."""

    def __init__(self, chunks, optimizer):
        self.folder = pathlib.Path(said(CHECKPOINT, "checkpoints"))
        self.modules, self.optimizer = nn.ModuleDict(chunks), optimizer
        # By parameter: pipeline stages have others, and one list of groups would be that of a single stage.
        self.options = StateDictOptions(flatten_optimizer_state_dict=True)

    def state(self):
        model, optimizer = get_state_dict(self.modules, self.optimizer, options=self.options)
        return {"model": model, "optimizer": optimizer}

    def load(self):
        """Steps that are done."""
        last = self.folder / "last"
        if CHECKPOINT_EVERY is None or not last.exists():
            return 0
        step, state = int(last.read_text()), self.state()
        dcp.load(state, checkpoint_id=self.folder / f"step-{step}")
        set_state_dict(self.modules, self.optimizer, model_state_dict=state["model"],
                       optim_state_dict=state["optimizer"], options=self.options)
        return step

    def save(self, step):
        if CHECKPOINT_EVERY is None or (step % CHECKPOINT_EVERY and step != ALL_STEPS):
            return
        dcp.save(self.state(), checkpoint_id=self.folder / f"step-{step}")
        if dist.get_rank() == 0:
            (self.folder / "last").write_text(str(step))


def main():
    kind = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(kind, int(os.environ["LOCAL_RANK"])) if kind == "cuda" else torch.device(kind)
    if kind == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    for enable in (torch.backends.cuda.enable_flash_sdp, torch.backends.cuda.enable_mem_efficient_sdp,
                   torch.backends.cuda.enable_cudnn_sdp):
        enable(FLASH_ATTENTION)
    mesh = init_device_mesh(kind, (PIPELINE_STAGES, DATA_PARALLEL // SHARD_GROUP, SHARD_GROUP, TENSOR_PARALLEL),
                            mesh_dim_names=("pp", "replicate", "shard", "tp"))
    rank = mesh["pp"].get_local_rank()
    torch.manual_seed(1 + said(SEED, 0))
    chunks = []
    for index in stages_of(rank):
        chunk = Chunk(index).to(device, torch.bfloat16 if PRECISION == "bf16-pure" else torch.float32)
        if TENSOR_PARALLEL > 1:
            split_tensors(chunk, mesh["tp"])
        recompute(chunk)
        chunks.append(shard(chunk, mesh))
    parameters = [p for chunk in chunks for p in chunk.parameters()]
    optimizer = optimizer_of(parameters)
    checkpoints = Checkpoints({str(index): chunk for index, chunk in zip(stages_of(rank), chunks)}, optimizer)
    first = checkpoints.load()
    schedule = pipeline(chunks, rank, mesh, device) if PIPELINE_STAGES > 1 else None
    needs_autocast = PRECISION == "bf16" and ZERO_STAGE == 0
    torch.manual_seed(2 + said(SEED, 0) + dist.get_rank() // TENSOR_PARALLEL % DATA_PARALLEL)
    for step, (inputs, targets) in zip(range(ALL_STEPS), batches(device)):
        if step < first:
            continue
        with torch.autocast(kind, torch.bfloat16, enabled=needs_autocast):
            if schedule is None:
                loss = step_without_pipeline(chunks[0], inputs, targets)
            else:
                losses = []
                arguments = (inputs,) if 0 in stages_of(rank) else ()
                is_last = CHUNKS - 1 in stages_of(rank)
                schedule.step(*arguments, **({"target": targets, "losses": losses} if is_last else {}))
                loss = sum(one.item() for one in losses) / MICRO_BATCHES if losses else math.nan
        if CLIP:
            clip(parameters, mesh["pp"].get_group())
        set_rate(optimizer, step)
        optimizer.step()
        optimizer.zero_grad()
        checkpoints.save(step + 1)
        if not math.isnan(loss) and dist.get_rank() % (DATA_PARALLEL * TENSOR_PARALLEL) == 0:
            print(f"step {step + 1}: loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
