## The part of train.py that builds the network of the constants above it, and reads and writes its weights.
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
