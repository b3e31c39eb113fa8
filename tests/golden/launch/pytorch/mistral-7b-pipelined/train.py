# Trains mistral-7b on 16 GPUs as planned: torchrun ... train.py
PIPELINE_STAGES = 4
VIRTUAL_STAGES = 1
SCHEDULE = "1F1B"
SCHEDULE_FILE = ""
SCHEDULE_IS_V = False
LAYERS = [8, 8, 8, 8]
TENSOR_PARALLEL = 2
SEQUENCE_PARALLEL = True
DATA_PARALLEL = 2
SHARD_GROUP = 1
LAYERS_PER_UNIT = 1
ZERO_STAGE = 0
MICRO_BATCH = 1
MICRO_BATCHES = 16
SEQUENCE_LENGTH = 4096
RECOMPUTE_EVERY = 0
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
NETWORK = {"vocabulary": 32000, "width": 4096, "heads": 32, "key_value_heads": 8, "head_width": 128, "mlp_width": 14336, "gated": True, "activation": "gelu_tanh", "norm": "rms_norm", "norm_epsilon": 1e-05, "qkv_bias": False, "output_bias": False, "mlp_bias": False, "head_bias": False, "head_norm": False, "tied": False, "rotary": {"base": 10000.0, "features": 128, "scaling": "none"}, "positions": 0, "first_position": 0, "windows": [4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096], "experts": None, "dropout": {"embedding": 0.0, "attention": 0.0, "residual": 0.0}}
PUBLISHED = {"input.embedding.weight": ["model.embed_tokens.weight", 0, False], "layers.*.attention.norm.weight": ["model.layers.*.input_layernorm.weight", 0, False], "layers.*.attention.qkv.q.weight": ["model.layers.*.self_attn.q_proj.weight", 0, False], "layers.*.attention.qkv.k.weight": ["model.layers.*.self_attn.k_proj.weight", 0, False], "layers.*.attention.qkv.v.weight": ["model.layers.*.self_attn.v_proj.weight", 0, False], "layers.*.attention.output.weight": ["model.layers.*.self_attn.o_proj.weight", 0, False], "layers.*.mlp.norm.weight": ["model.layers.*.post_attention_layernorm.weight", 0, False], "layers.*.mlp.gate_up.gate.weight": ["model.layers.*.mlp.gate_proj.weight", 0, False], "layers.*.mlp.gate_up.up.weight": ["model.layers.*.mlp.up_proj.weight", 0, False], "layers.*.mlp.down.weight": ["model.layers.*.mlp.down_proj.weight", 0, False], "output.final_norm.weight": ["model.norm.weight", 0, False], "output.head.weight": ["lm_head.weight", 0, False]}
STAND_IN = ""
CONFIG = "{\"model_type\":\"mistral\",\"architectures\":[\"MistralForCausalLM\"],\"hidden_act\":\"silu\",\"hidden_size\":4096,\"intermediate_size\":14336,\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"max_position_embeddings\":32768,\"vocab_size\":32000,\"tie_word_embeddings\":false,\"sliding_window\":4096,\"rms_norm_eps\":1e-05}\n"

import glob
import json
import math
import os
import pathlib
import re
import zlib

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
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInputOutput, RowwiseParallel,
                                               SequenceParallel, parallelize_module)
from torch.nn.parallel import DistributedDataParallel


def said(value, otherwise):
    """A constant of the recipe, where the plan says it."""
    return otherwise if value is None else value


RUN_SEED = int(os.environ.get("SEED", said(SEED, 0)))  # of the first weights, the places in the data and dropout
MASK = (1 << 64) - 1
CHUNKS = PIPELINE_STAGES * VIRTUAL_STAGES
# Replicas whose gradients are reduced behind the step, and not by DistributedDataParallel.
REDUCES_BEHIND = ZERO_STAGE == 0 and DATA_PARALLEL > 1 and (PIPELINE_STAGES > 1 or TENSOR_PARALLEL > 1)
EMBEDDING, HEAD = "input.embedding.weight", "output.head.weight"


def norm(width):
    return (nn.RMSNorm if NETWORK["norm"] == "rms_norm" else nn.LayerNorm)(width, eps=NETWORK["norm_epsilon"])


def feed_forward(width):
    """Two matrices, or three with a gate."""
    hidden, bias = NETWORK["width"], NETWORK["mlp_bias"]
    first = {name: nn.Linear(hidden, width, bias=bias) for name in (("gate", "up") if NETWORK["gated"] else ("up",))}
    first = {"gate_up": nn.ModuleDict(first)} if NETWORK["gated"] else first
    return nn.ModuleDict({**first, "down": nn.Linear(width, hidden, bias=bias)})


def fed_forward(parts, x):
    if NETWORK["gated"]:
        return parts["down"](F.silu(parts["gate_up"]["gate"](x)) * parts["gate_up"]["up"](x))
    activation = {"relu": F.relu, "gelu_erf": F.gelu, "gelu_tanh": lambda y: F.gelu(y, approximate="tanh")}
    return parts["down"](activation[NETWORK["activation"]](parts["up"](x)))


def rotated(x):
    """Rotary positions of [batch, tokens, heads, features]: feature i turns with feature i + half."""
    rotary = NETWORK["rotary"]
    features = rotary["features"]
    exponents = torch.arange(0, features, 2, device=x.device, dtype=torch.float32) / features
    frequencies = rotary["base"] ** -exponents
    if rotary["scaling"] == "linear":
        frequencies = frequencies / rotary["factor"]
    elif rotary["scaling"] == "llama3":
        low, high = rotary["low_frequency_turns"], rotary["high_frequency_turns"]
        turns = rotary["original_positions"] * frequencies / (2 * math.pi)
        kept = ((turns - low) / (high - low)).clamp(0, 1)
        frequencies = frequencies * (kept + (1 - kept) / rotary["factor"])
    angles = torch.arange(x.shape[1], device=x.device, dtype=torch.float32)[:, None, None] * frequencies
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second, rest = x.split((features // 2, features // 2, x.shape[-1] - features), -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin, rest), -1)


class Experts(nn.ModuleDict):
    """Each token passes the experts that its router gives the largest probabilities. No token is dropped, and no loss
    balances the router: the plan has none."""

    def __init__(self):
        mixture = NETWORK["experts"]
        super().__init__({"router": nn.Linear(NETWORK["width"], mixture["count"], bias=False)})
        self.update({str(i): feed_forward(mixture["width"]) for i in range(mixture["count"])})

    def forward(self, x):
        tokens = x.flatten(0, 1)
        weights, chosen = F.softmax(self["router"](tokens).float(), -1).topk(NETWORK["experts"]["chosen"])
        if NETWORK["experts"]["normalises_weights"]:
            weights = weights / weights.sum(-1, keepdim=True)
        sums = torch.zeros_like(tokens)
        for i in range(NETWORK["experts"]["count"]):  # those without tokens too: every rank has all gradients
            rows, places = (chosen == i).nonzero(as_tuple=True)
            y = fed_forward(self[str(i)], tokens[rows]) * weights[rows, places, None]
            sums = sums.index_add(0, rows, y.to(sums.dtype))
        return sums.view_as(x)


class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        width, head = NETWORK["width"], NETWORK["head_width"]
        widths = {"q": NETWORK["heads"] * head, "k": NETWORK["key_value_heads"] * head,
                  "v": NETWORK["key_value_heads"] * head}
        self.window = NETWORK["windows"][index] if NETWORK["windows"] else 0
        self.attention = nn.ModuleDict({
            "norm": norm(width),
            "qkv": nn.ModuleDict({name: nn.Linear(width, w, bias=NETWORK["qkv_bias"]) for name, w in widths.items()}),
            "output": nn.Linear(widths["q"], width, bias=NETWORK["output_bias"])})
        if NETWORK["head_norm"]:
            self.attention.update({"q_norm": norm(head), "k_norm": norm(head)})
        self.mlp = nn.ModuleDict({"norm": norm(width)})
        if NETWORK["experts"] and index not in NETWORK["experts"]["dense_layers"]:
            self.experts = Experts()
        else:
            self.mlp.update(feed_forward(NETWORK["mlp_width"]))

    def attend(self, x):
        q, k, v = (self.attention["qkv"][name](x).unflatten(-1, (-1, NETWORK["head_width"])) for name in "qkv")
        if NETWORK["head_norm"]:
            q, k = self.attention["q_norm"](q), self.attention["k_norm"](k)
        if NETWORK["rotary"]:
            q, k = rotated(q), rotated(k)
        mask = None
        if 0 < self.window < q.shape[1]:
            place = torch.arange(q.shape[1], device=q.device)
            distance = place[:, None] - place
            mask = (distance >= 0) & (distance < self.window)
        y = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask, is_causal=mask is None,
            dropout_p=NETWORK["dropout"]["attention"], enable_gqa=q.shape[2] != k.shape[2])
        return self.attention["output"](y.transpose(1, 2).flatten(2))

    def forward(self, x):
        dropout = NETWORK["dropout"]["residual"]
        x = x + F.dropout(self.attend(self.attention["norm"](x)), dropout)
        y = self.mlp["norm"](x)
        return x + F.dropout(self.experts(y) if hasattr(self, "experts") else fed_forward(self.mlp, y), dropout)


class Chunk(nn.Module):
    """What one pipeline chunk holds: its layers, the embedding in the first and the head in the last."""

    def __init__(self, index):
        super().__init__()
        first, width = sum(LAYERS[:index]), NETWORK["width"]
        if index == 0:
            self.input = nn.ModuleDict({"embedding": nn.Embedding(NETWORK["vocabulary"], width)})
            if NETWORK["positions"]:
                self.input.update({"positions": nn.Embedding(NETWORK["positions"], width)})
        self.layers = nn.ModuleDict({str(i): Block(i) for i in range(first, first + LAYERS[index])})
        if index == CHUNKS - 1:
            self.output = nn.ModuleDict({"final_norm": norm(width),
                                         "head": nn.Linear(width, NETWORK["vocabulary"], bias=NETWORK["head_bias"])})

    def tie(self):
        """One matrix embeds tokens and predicts them. On two chunks it is two, whose gradients are added."""
        if NETWORK["tied"] and hasattr(self, "input") and hasattr(self, "output"):
            self.output["head"].weight = self.input["embedding"].weight

    def forward(self, x):
        if hasattr(self, "input"):
            places = torch.arange(x.shape[1], device=x.device)[None] + NETWORK["first_position"]
            x = self.input["embedding"](x)
            if NETWORK["positions"]:
                x = x + self.input["positions"](places)
            x = F.dropout(x, NETWORK["dropout"]["embedding"])
        for layer in self.layers.values():
            x = layer(x)
        return self.output["head"](self.output["final_norm"](x)) if hasattr(self, "output") else x


def own_name(name):
    return name.removeprefix("module.").replace("_checkpoint_wrapped_module.", "")


def published(name):
    """The tensor of a file that holds a parameter, its first row there, and whether the file has it transposed."""
    if NETWORK["tied"] and name == HEAD:
        name = EMBEDDING
    numbers = dict(re.findall(r"(layers|experts)\.(\d+)\.", name))
    key = re.sub(r"^layers\.\d+", "layers.*", re.sub(r"experts\.\d+\.", "experts.", name))
    tensor, row, is_transposed = PUBLISHED.get(key, (name, 0, False))
    return tensor.replace("*", numbers.get("layers", "")).replace("#", numbers.get("experts", "")), row, is_transposed


class PublishedWeights:
    """The safetensors of a folder, or of a model of the Hub by its name."""

    def __init__(self, name):
        from safetensors import safe_open
        if not os.path.isdir(name):
            from huggingface_hub import snapshot_download
            name = snapshot_download(name, allow_patterns=["model*.safetensors"])
        self.name, self.files = name, {}
        for path in sorted(glob.glob(os.path.join(glob.escape(name), "model*.safetensors"))):
            file = safe_open(path, "pt")
            self.files.update({tensor: file for tensor in file.keys()})

    def read(self, name, box):
        tensor, row, is_transposed = published(name)
        if tensor not in self.files:
            tensor = tensor.partition(".")[2]  # a file of the network without its head
        if tensor not in self.files:
            raise SystemExit(f"train.py: {self.name} has no tensor {published(name)[0]}")
        box = [slice(box[0].start + row, box[0].stop + row), *box[1:]]
        part = self.files[tensor].get_slice(tensor)
        shape = part.get_shape()
        box = box[::-1] if is_transposed else box
        if len(shape) != len(box) or any(one.stop > size for one, size in zip(box, shape)):
            raise SystemExit(f"train.py: {self.name}: {tensor} has the shape {shape}, which is not the plan's")
        return part[tuple(box)].T if is_transposed else part[tuple(box)]


def first_weights(name, shape, device):
    """The same for every division: norms 1, biases 0, matrices of deviation 0.02."""
    if len(shape) == 1:
        return torch.full(shape, 0.0 if name.endswith(".bias") else 1.0, device=device)
    seed = zlib.crc32(f"{RUN_SEED} {EMBEDDING if NETWORK['tied'] and name == HEAD else name}".encode())
    return torch.randn(shape, device=device, generator=torch.Generator(device).manual_seed(seed)) * 0.02


@torch.no_grad()
def fill(chunk, weights, device):
    """Gives a rank's part of every parameter its value."""
    for name, parameter in chunk.named_parameters():
        name, local, shape = own_name(name), parameter, parameter.shape
        sizes, begins = shape, (0,) * len(shape)
        if isinstance(parameter, DTensor):
            local = parameter.to_local()
            sizes, begins = compute_local_shape_and_global_offset(shape, parameter.device_mesh, parameter.placements)
        if 0 in sizes:
            continue
        box = [slice(begin, begin + size) for begin, size in zip(begins, sizes)]
        local.copy_(weights.read(name, box) if weights else first_weights(name, shape, device)[tuple(box)])


def save(chunks, folder, mesh):
    """Writes the weights as the Hub's classes read them, a file for each pipeline rank."""
    from safetensors.torch import save_file
    pieces, place, stages = {}, mesh["pp"].get_local_rank(), PIPELINE_STAGES
    for name, parameter in (pair for chunk in chunks for pair in chunk.named_parameters()):
        name = own_name(name)
        whole = (parameter.full_tensor() if isinstance(parameter, DTensor) else parameter).detach().cpu()
        tensor, row, is_transposed = published(name)
        if not (NETWORK["tied"] and name == HEAD):
            pieces.setdefault(tensor, []).append((row, whole, is_transposed))
    tensors = {}
    for tensor, parts in pieces.items():
        whole = torch.cat([part for _, part, _ in sorted(parts, key=lambda one: one[0])])
        tensors[tensor] = (whole.T if parts[0][2] and whole.dim() > 1 else whole).contiguous()
    file = f"model-{place + 1:05}-of-{stages:05}.safetensors" if stages > 1 else "model.safetensors"
    if dist.get_rank() % (DATA_PARALLEL * TENSOR_PARALLEL) == 0:
        os.makedirs(folder, exist_ok=True)
        save_file(tensors, os.path.join(folder, file), {"format": "pt"})
    places = [None] * stages
    dist.all_gather_object(places, {tensor: file for tensor in tensors}, group=mesh["pp"].get_group())
    if dist.get_rank() == 0 and stages > 1:
        index = {"metadata": {}, "weight_map": {tensor: name for each in places for tensor, name in each.items()}}
        with open(os.path.join(folder, "model.safetensors.index.json"), "w") as out:
            json.dump(index, out, indent=2)
    if dist.get_rank() == 0 and CONFIG:
        with open(os.path.join(folder, "config.json"), "w") as out:
            out.write(CONFIG)


PEAK = float(os.environ.get("LEARNING_RATE", said(LEARNING_RATE, 3e-4)))
ALL_STEPS = int(os.environ.get("STEPS", said(STEPS, 10)))


def optimizer_of(parameters):
    """Of matrices with weight decay, of biases and norms without, as `plan run` has it."""
    groups = {}  # by mesh too: one update for many tensors wants them alike
    for parameter in parameters:
        mesh = parameter.device_mesh if isinstance(parameter, DTensor) else None
        groups.setdefault((mesh, parameter.dim() > 1), []).append(parameter)
    parameters = [{"params": group} | ({} if decays else {"weight_decay": 0.0}) for (_, decays), group in groups.items()]
    betas = (said(BETA1, 0.9), said(BETA2, 0.999))
    numbers = {"lr": PEAK} | ({} if WEIGHT_DECAY is None else {"weight_decay": WEIGHT_DECAY})
    epsilon = {} if EPSILON is None else {"eps": EPSILON}
    adaptive = {"lr": PEAK} | epsilon  # as published, these have no weight decay
    return {"adamw": lambda: torch.optim.AdamW(parameters, betas=betas, **numbers, **epsilon),
            "adam": lambda: torch.optim.Adam(parameters, betas=betas, **adaptive),
            "sgd": lambda: torch.optim.SGD(parameters, **numbers),
            "momentum": lambda: torch.optim.SGD(parameters, momentum=said(MOMENTUM, 0.9), **numbers),
            "adagrad": lambda: torch.optim.Adagrad(parameters, **adaptive),
            "rmsprop": lambda: torch.optim.RMSprop(parameters, alpha=said(BETA2, 0.99), **adaptive),
            "adafactor": lambda: torch.optim.Adafactor(parameters, **numbers)}[OPTIMIZER]()


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


@torch.no_grad()
def clip(chunks, mesh):
    """By the norm of all gradients, those of the other pipeline stages among them. A tied matrix counts once."""
    parameters = [(own_name(name), p) for chunk in chunks for name, p in chunk.named_parameters() if p.grad is not None]
    squares = []
    for name, parameter in parameters:
        if isinstance(parameter.grad, DTensor):  # tensor-parallel ranks may hold parts of a sum
            parameter.grad = parameter.grad.redistribute(placements=parameter.placements)
        if name == HEAD and NETWORK["tied"] and CHUNKS > 1:
            continue
        norm = torch.linalg.vector_norm(parameter.grad.float())
        squares.append((norm.full_tensor() if isinstance(norm, DTensor) else norm).square())
    square = torch.stack(squares).sum()
    dist.all_reduce(square, group=mesh["pp"].get_group())
    factor = CLIP / (square.sqrt().item() + 1e-6)
    for _, parameter in parameters if factor < 1 else []:
        parameter.grad.mul_(factor)


class TrainingState:
    """Checkpoints of all ranks, by torch.distributed.checkpoint: weights and the optimizer's state. The file "last"
    names the newest that is whole."""

    # By parameter, not by its place in the optimizer: every pipeline stage has its own.
    options = StateDictOptions(flatten_optimizer_state_dict=True)

    def __init__(self, chunks, optimizer):
        self.folder = pathlib.Path(said(CHECKPOINT, "checkpoints"))
        self.modules, self.optimizer = nn.ModuleDict(chunks), optimizer

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
            (self.folder / "last.partial").write_text(str(step))
            (self.folder / "last.partial").replace(self.folder / "last")


def drawn(step, index):
    """64 bits for a step and an index in it, as `plan run` draws them (SplitMix64's finaliser)."""
    def mixed(z):
        z = z + 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    return mixed(mixed(mixed(RUN_SEED) ^ step) ^ index)


def replica():
    """The data-parallel rank."""
    return dist.get_rank() // TENSOR_PARALLEL % DATA_PARALLEL


def places(step, tokens):
    """Where the step's sequences begin in the data."""
    for micro_batch in range(MICRO_BATCHES):
        first = (micro_batch * DATA_PARALLEL + replica()) * MICRO_BATCH
        for sequence in range(first, first + MICRO_BATCH):
            yield drawn(step, sequence) * (tokens - SEQUENCE_LENGTH) >> 64


def batches(steps, device):
    """Each step's sequences of a data-parallel rank, and the tokens one further: of the file DATA (bytes, or numbers of
    16 or 32 bits where DATA_FORMAT is u16 or u32), or random ones."""
    size = (MICRO_BATCH * MICRO_BATCHES, SEQUENCE_LENGTH + 1)
    path, kind = os.environ.get("DATA"), os.environ.get("DATA_FORMAT", "text")
    if path:
        dtype = {"text": torch.uint8, "u16": torch.uint16, "u32": torch.uint32}[kind]
        count = os.path.getsize(path) // dtype.itemsize
        tokens = torch.from_file(path, size=count, dtype=dtype)
        held_out = int(float(os.environ.get("HELD_OUT", "0.1")) * count)  # at the end, as `plan run` keeps it
        if held_out > SEQUENCE_LENGTH and count - held_out > SEQUENCE_LENGTH:
            count -= held_out
        if count <= SEQUENCE_LENGTH:
            raise SystemExit(f"train.py: {path} has {count} tokens, and a sequence {SEQUENCE_LENGTH}")
    for step in steps:
        torch.manual_seed(drawn(step, replica()))  # of random tokens and dropout: steps behind a restart draw the same
        if path:
            rows = [tokens[place : place + SEQUENCE_LENGTH + 1].long() for place in places(step, count)]
            batch = torch.stack(rows).to(device)
        else:
            batch = torch.randint(0, NETWORK["vocabulary"], size, device=device)
        yield batch[:, :-1], batch[:, 1:]


def loss_of(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def split_tensors(chunk, mesh):
    """Tensor parallelism: columns of the first matrices of a part, rows of its last."""
    inside = Shard(1) if SEQUENCE_PARALLEL else Replicate()
    columns, rows = ColwiseParallel(input_layouts=inside), RowwiseParallel(output_layouts=inside)
    tables = RowwiseParallel(input_layouts=Replicate(), output_layouts=inside)
    by_sequence = SequenceParallel(use_local_output=True)
    plan = {}
    for name, module in chunk.named_modules():
        kind, is_expert = name.rpartition(".")[2], ".experts." in name
        if kind in ("q", "k", "v", "gate", "up") and isinstance(module, nn.Linear):
            plan[name] = ColwiseParallel() if is_expert else columns
        elif name.endswith(("attention.output", ".down")):
            plan[name] = RowwiseParallel() if is_expert else rows
        elif kind in ("q_norm", "k_norm"):
            plan[name] = SequenceParallel(sequence_dim=2, use_local_output=True)
        elif kind in ("embedding", "positions"):
            plan[name] = tables
        elif kind == "head":
            plan[name] = ColwiseParallel(input_layouts=inside, output_layouts=Replicate())
        elif kind in ("norm", "final_norm") and SEQUENCE_PARALLEL:
            plan[name] = by_sequence
        elif kind == "experts" and SEQUENCE_PARALLEL:
            plan[name] = PrepareModuleInputOutput(
                input_layouts=inside, desired_input_layouts=Replicate(), use_local_input=True,
                output_layouts=Replicate(), desired_output_layouts=inside)
    parallelize_module(chunk, mesh, plan)
    chunk.tie()


def recompute(chunk):
    for name, layer in list(chunk.layers.items()):
        if RECOMPUTE_EVERY and int(name) % RECOMPUTE_EVERY == 0:
            chunk.layers[name] = checkpoint_wrapper(layer)


def shard(chunk, mesh):
    """FSDP2 over the shard group, replicated over the others."""
    options = {"mesh": mesh["replicate", "shard"] if DATA_PARALLEL > SHARD_GROUP else mesh["shard"],
               "reshard_after_forward": ZERO_STAGE == 3}
    if PRECISION == "bf16":
        options["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    layers = list(chunk.layers.values())
    for first in range(0, len(layers), LAYERS_PER_UNIT):
        fully_shard(layers[first : first + LAYERS_PER_UNIT], **options)
    fully_shard(chunk, **options)


def made_chunk(index, mesh, weights, device):
    """A rank's part of a chunk with its weights; nothing is as large as the chunk."""
    with torch.device("meta"):
        chunk = Chunk(index).to(torch.bfloat16 if PRECISION == "bf16-pure" else torch.float32)
    chunk.tie()
    if TENSOR_PARALLEL > 1:
        split_tensors(chunk, mesh["tp"])
    recompute(chunk)
    if ZERO_STAGE > 0:
        shard(chunk, mesh)
    chunk.to_empty(device=device)
    if ZERO_STAGE == 0:
        chunk.tie()
    fill(chunk, weights, device)
    if ZERO_STAGE == 0 and DATA_PARALLEL > 1 and not REDUCES_BEHIND:
        return DistributedDataParallel(chunk, process_group=mesh["replicate"].get_group())
    return chunk


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
        if ZERO_STAGE >= 2:  # no rank holds whole gradients from one micro-batch to the next
            model.set_requires_all_reduce(is_last)
        elif ZERO_STAGE == 1:
            model.set_requires_gradient_sync(is_last)
        elif isinstance(model, DistributedDataParallel):
            model.require_backward_grad_sync = is_last
        loss = loss_of(model(x), y) / MICRO_BATCHES
        loss.backward()
        total += loss.item()
    return total


@torch.no_grad()
def reduce_gradients(chunks, mesh):
    """The mean over replicas, behind the step: DDP's hooks do not see a backward in two parts, and have one order for
    all chunks of a rank."""
    if not REDUCES_BEHIND:
        return
    works = []
    for parameter in (p for chunk in chunks for p in chunk.parameters()):
        gradient = parameter.grad
        if isinstance(gradient, DTensor):
            parameter.grad = gradient.redistribute(placements=parameter.placements)
            gradient = parameter.grad.to_local()
        works.append(dist.all_reduce(gradient.div_(DATA_PARALLEL), group=mesh["replicate"].get_group(), async_op=True))
    for work in works:
        work.wait()


@torch.no_grad()
def add_tied_gradients(chunks, mesh):
    """Of a tied matrix on the first chunk and on the last: both take the sum."""
    if CHUNKS == 1 or not NETWORK["tied"]:
        return
    own = {own_name(name): p for chunk in chunks for name, p in chunk.named_parameters()}
    ends = [own[name] for name in (EMBEDDING, HEAD) if name in own]
    for parameter in ends:
        if isinstance(parameter, DTensor):
            parameter.grad = parameter.grad.redistribute(placements=parameter.placements)
    gradients = [p.grad.to_local() if isinstance(p, DTensor) else p.grad for p in ends]
    if len(ends) == 2:
        total = gradients[0] + gradients[1]
        for gradient in gradients:
            gradient.copy_(total)
    elif len(ends) == 1:
        ranks = mesh["pp"].mesh.tolist()
        peer = ranks[-1] if EMBEDDING in own else ranks[0]
        other = torch.empty_like(gradients[0])
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, gradients[0].contiguous(), peer),
                                            dist.P2POp(dist.irecv, other, peer)]):
            work.wait()
        gradients[0].add_(other)


def mean_loss(loss, mesh, device):
    """Over the ranks that share a global batch."""
    loss = torch.tensor(loss, device=device)
    for name in ("replicate", "shard"):
        dist.all_reduce(loss, group=mesh[name].get_group())
    return loss.item() / DATA_PARALLEL


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
    if STAND_IN and dist.get_rank() == 0:
        print(f"train.py: a stand-in of width {NETWORK['width']} is trained: {STAND_IN}", flush=True)
    weights = PublishedWeights(os.environ["WEIGHTS"]) if os.environ.get("WEIGHTS") else None
    chunks = [made_chunk(index, mesh, weights, device) for index in stages_of(rank)]
    optimizer = optimizer_of([p for chunk in chunks for p in chunk.parameters()])
    training = TrainingState({str(index): chunk for index, chunk in zip(stages_of(rank), chunks)}, optimizer)
    steps = range(training.load(), ALL_STEPS)
    schedule = pipeline(chunks, rank, mesh, device) if PIPELINE_STAGES > 1 else None
    needs_autocast = PRECISION == "bf16" and ZERO_STAGE == 0
    for step, (inputs, targets) in zip(steps, batches(steps, device)):
        with torch.autocast(kind, torch.bfloat16, enabled=needs_autocast):
            if schedule is None:
                loss = step_without_pipeline(chunks[0], inputs, targets)
            else:
                losses = []
                arguments = (inputs,) if 0 in stages_of(rank) else ()
                is_last = CHUNKS - 1 in stages_of(rank)
                schedule.step(*arguments, **({"target": targets, "losses": losses} if is_last else {}))
                loss = sum(one.item() for one in losses) / MICRO_BATCHES if losses else math.nan
        reduce_gradients(chunks, mesh)
        add_tied_gradients(chunks, mesh)
        if CLIP:
            clip(chunks, mesh)
        set_rate(optimizer, step)
        optimizer.step()
        optimizer.zero_grad()
        training.save(step + 1)
        if not math.isnan(loss):
            loss = mean_loss(loss, mesh, device)
            if dist.get_rank() % (DATA_PARALLEL * TENSOR_PARALLEL) == 0:
                print(f"step {step + 1}: loss {loss:.6f}", flush=True)
    if os.environ.get("SAVE"):
        save(chunks, os.environ["SAVE"], mesh)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
