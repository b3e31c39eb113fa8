#!/usr/bin/env python3
"""Exports the graphs that tests/reference/onnx_test.cpp reads, and counts the networks that they came from.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch torchvision onnx onnxscript transformers
    /tmp/venv/bin/python tests/data/onnx/export_models.py [NAME...]

Writes NAME.onnx without weights (larger tensors point to a file that is not kept; names, types and dimensions stay) and
NAME.json: parameters of the module, and the forward FLOPs of one sample by class as torch.utils.flop_counter counts them
while the module runs. `script` is the TorchScript exporter, `dynamo` the one on torch.export.
"""

import json
import os
import pathlib
import sys
import tempfile

import onnx
import torch
from onnx.external_data_helper import convert_model_to_external_data
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

HERE = pathlib.Path(__file__).parent
EXPORTERS = os.environ.get("EXPORTERS", "script dynamo").split()
CONVOLUTIONS = {"convolution", "_convolution"}


class Logits(nn.Module):
    """A network whose forward takes tensors and returns one."""

    def __init__(self, network, field):
        super().__init__()
        self.network, self.field = network, field

    def forward(self, first):
        return self.network(first, **self.arguments)[self.field]

    @property
    def arguments(self):
        return {"use_cache": False} if hasattr(self.network.config, "use_cache") else {}


class Masked(Logits):
    def forward(self, first, attention_mask):
        return self.network(first, attention_mask=attention_mask)[self.field]


class DoubleConvolution(nn.Sequential):
    def __init__(self, into, out):
        layers = []
        for width in (into, out):
            layers += [nn.Conv2d(width, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
        super().__init__(*layers)


class UNet(nn.Module):
    """Ronneberger et al., arXiv:1505.04597, figure 1, padded and narrower."""

    def __init__(self, widths=(24, 48, 96, 192)):
        super().__init__()
        self.down = nn.ModuleList(DoubleConvolution(a, b) for a, b in zip((3,) + widths[:-2], widths[:-1]))
        self.bottom = DoubleConvolution(widths[-2], widths[-1])
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(widths, widths[1:]))
        self.merge = nn.ModuleList(DoubleConvolution(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(widths[0], 5, 1)

    def forward(self, x):
        skips = []
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.bottom(x)
        for up, merge, skip in reversed(list(zip(self.up, self.merge, skips))):
            x = merge(torch.cat((skip, up(x)), 1))
        return self.head(x)


class ExpertLayer(nn.Module):
    """Experts that choose their tokens (Zhou et al., arXiv:2202.09368, section 3)."""

    def __init__(self, hidden, experts, width, capacity):
        super().__init__()
        self.norm = nn.LayerNorm(hidden)
        self.router = nn.Linear(hidden, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, hidden, width) / hidden**0.5)
        self.down = nn.Parameter(torch.randn(experts, width, hidden) / width**0.5)
        self.capacity = capacity

    def forward(self, x):
        y = self.norm(x)
        weights, chosen = torch.topk(self.router(y).softmax(-1).transpose(1, 2), self.capacity, -1)
        batch, experts = chosen.shape[:2]
        index = chosen.reshape(batch, -1, 1).expand(-1, -1, x.shape[-1])
        picked = torch.gather(y, 1, index).reshape(batch, experts, self.capacity, -1)
        made = torch.matmul(nn.functional.gelu(torch.matmul(picked, self.up)), self.down) * weights.unsqueeze(-1)
        return x.scatter_add(1, index, made.reshape(batch, -1, x.shape[-1]))


class Mixture(nn.Module):
    def __init__(self, vocabulary=1003, hidden=96, heads=3, layers=3, tokens=48):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.attention = nn.ModuleList(SelfAttention(hidden, heads) for _ in range(layers))
        self.experts = nn.ModuleList(ExpertLayer(hidden, 6, 160, tokens // 3) for _ in range(layers))
        self.head = nn.Linear(hidden, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for attention, experts in zip(self.attention, self.experts):
            x = experts(attention(x))
        return self.head(x)


class SelfAttention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.norm, self.heads = nn.LayerNorm(hidden), heads
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)

    def forward(self, x):
        batch, tokens, hidden = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.matmul(q, k.transpose(-1, -2)) * (hidden // self.heads) ** -0.5
        return x + self.out(torch.matmul(scores.softmax(-1), v).transpose(1, 2).reshape(batch, tokens, hidden))


def tokens(vocabulary, length, batch=1):
    return torch.randint(0, vocabulary, (batch, length))


def resnet50():
    from torchvision.models import resnet50 as build

    return build(), (torch.randn(1, 3, 224, 224),), {}


def convnext():
    from torchvision.models import convnext_tiny

    return convnext_tiny(), (torch.randn(1, 3, 224, 224),), {}


def vit():
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(num_labels=1000)
    return Logits(ViTForImageClassification(config), "logits"), (torch.randn(1, 3, 224, 224),), {}


def bert(attention="eager"):
    from transformers import BertConfig, BertForMaskedLM

    network = BertForMaskedLM(BertConfig(attn_implementation=attention))
    length = 128
    return Masked(network, "logits"), (tokens(30522, length), torch.ones(1, length, dtype=torch.int64)), {1: "sequence"}


def gpt2(attention="eager"):
    from transformers import GPT2Config, GPT2LMHeadModel

    return Logits(GPT2LMHeadModel(GPT2Config(attn_implementation=attention)), "logits"), (tokens(50257, 96),), {1: "sequence"}


def llama(attention="sdpa"):
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=2003, hidden_size=192, intermediate_size=520, num_hidden_layers=3,
                         num_attention_heads=6, num_key_value_heads=2, attn_implementation=attention)
    return Logits(LlamaForCausalLM(config), "logits"), (tokens(2003, 96),), {1: "sequence"}


def unet():
    return UNet(), (torch.randn(1, 3, 96, 160),), {}


def moe():
    return Mixture(), (tokens(1003, 48),), {}


MODELS = {"resnet50": resnet50, "convnext": convnext, "vit": vit, "bert": bert, "gpt2": gpt2, "llama": llama,
          "unet": unet, "moe": moe}


def flops_by_class(network, arguments):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(*arguments)
    sums = {"matmul": 0, "convolution": 0}
    for operator, flops in counter.get_flop_counts()["Global"].items():
        name = str(operator).split(".")[-1] if hasattr(operator, "overloadpacket") else operator.__name__
        sums["convolution" if name.split(".")[0] in CONVOLUTIONS else "matmul"] += int(flops)
    return sums


def export(network, arguments, symbols, exporter, file):
    names = ["input", "attention_mask"][: len(arguments)]
    axes = {0: "batch", **symbols}
    if exporter == "script":
        torch.onnx.export(network, arguments, file, dynamo=False, opset_version=17, input_names=names,
                          output_names=["output"], dynamic_axes={n: axes for n in names},
                          do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
        return
    shapes = tuple({i: torch.export.Dim(s, min=2, max=1024) for i, s in axes.items()} for _ in arguments)
    # torch.export takes sizes of 1 for constants.
    arguments = tuple(torch.cat((a, a, a)) for a in arguments)
    torch.onnx.export(network, arguments, file, dynamo=True, input_names=names, output_names=["output"],
                      dynamic_shapes=shapes, optimize=False)


def without_weights(file, kept):
    model = onnx.load(file)
    for graph in [model.graph, *model.functions]:
        del graph.value_info[:]
        for node in graph.node:
            node.ClearField("doc_string"), node.ClearField("metadata_props")
    for field in (model.graph.initializer, model.graph.input, model.graph.output):
        for value in field:
            value.ClearField("metadata_props"), value.ClearField("doc_string")
    model.ClearField("metadata_props")
    with tempfile.TemporaryDirectory() as folder:
        convert_model_to_external_data(model, location="weights.data", size_threshold=1024)
        onnx.save(model, f"{folder}/model.onnx")
        kept.write_bytes(pathlib.Path(folder, "model.onnx").read_bytes())


def main():
    torch.manual_seed(1)
    for name in sys.argv[1:] or MODELS:
        network, arguments, symbols = MODELS[name]()
        network.eval()
        with torch.no_grad():  # the TorchScript exporter stores tensors of equal numbers once
            for parameter in network.parameters():
                parameter.normal_(std=0.02)
        facts = {"parameters": sum(p.numel() for p in network.parameters()),
                 "flops": flops_by_class(network, arguments),
                 "sequence": arguments[0].shape[1] if symbols else 0, "torch": torch.__version__}
        for exporter in EXPORTERS:
            try:
                with tempfile.TemporaryDirectory() as folder:
                    export(network, arguments, symbols, exporter, f"{folder}/model.onnx")
                    without_weights(f"{folder}/model.onnx", HERE / f"{name}-{exporter}.onnx")
            except Exception as error:  # an exporter that cannot: said, and no file
                print(f"{name}: {exporter}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
        (HERE / f"{name}.json").write_text(json.dumps(facts, indent=2) + "\n")
        print(name, facts)


if __name__ == "__main__":
    main()
