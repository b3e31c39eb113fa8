#!/usr/bin/env python3
"""Writes kernel_goldens/adamw_8bit.json: steps of bitsandbytes' AdamW8bit on the CPU, for tests/kernels.

Usage: make_bitsandbytes_goldens.py   (needs torch 2.5 or later and bitsandbytes 0.50; commit what it writes)

States lie in codes of one byte, with the largest magnitude of each block of 256. `min_8bit_size=1`: small parameters
are quantised too. The last block of 300 elements is not full; gradients differ in size by up to 10^4 within a block.
bitsandbytes' C++ code for CPUs looks codes up in a table that is coarser than the smallest numbers of its book; as its
CUDA kernels do, the nearest number is taken here, as its own quantisation in PyTorch finds it.
"""
import json
import pathlib

import bitsandbytes
import torch
from bitsandbytes.backends.cpu import ops as cpu_ops

FOLDER = pathlib.Path(__file__).parent / "kernel_goldens"
STEPS = 4
torch.manual_seed(20261201)
torch.set_num_threads(1)


def nearest_codes(values, code, absmax_out, codes_out, blocksize):
    blocks = torch.split(values.flatten(), blocksize)
    absmax_out.copy_(torch.stack([block.abs().max() for block in blocks]))
    scaled = torch.cat([block / absmax_out[i] for i, block in enumerate(blocks)])
    codes_out.copy_((scaled[:, None] - code).abs().argmin(dim=-1).reshape(codes_out.shape).to(torch.uint8))


cpu_ops._quant_blockwise_fp32_direct = nearest_codes


def tensor(values):
    values = values.detach().to(torch.float32)
    matrix = values.reshape(-1, values.shape[-1])
    flat = [float(f"{v:.9g}") for v in matrix.flatten().tolist()]
    return {"rows": matrix.shape[0], "columns": matrix.shape[1], "values": flat}


def steps(name, weight_decay):
    weight = torch.nn.Parameter(torch.randn(3, 100))
    settings = {"lr": 0.01, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": weight_decay}
    optimizer = bitsandbytes.optim.AdamW8bit([weight], min_8bit_size=1, **settings)
    tensors = {"w": tensor(weight)}
    for step in range(STEPS):
        weight.grad = torch.randn(3, 100) * 10 ** (4 * torch.rand(3, 100) - 4)
        tensors[f"g{step + 1}"] = tensor(weight.grad)
        optimizer.step()
        tensors[f"w{step + 1}"] = tensor(weight)
    state = optimizer.state[weight]
    for key in ("state1", "state2", "absmax1", "absmax2", "qmap1", "qmap2"):
        tensors[key] = tensor(state[key])
    numbers = {"steps": STEPS, "lr": 0.01, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": weight_decay}
    return {"name": name, "numbers": numbers, "tensors": tensors}


document = {"format": "plumbline.kernel_goldens/1",
            "source": f"bitsandbytes {bitsandbytes.__version__}, PyTorch {torch.__version__}, CPU",
            "cases": [steps("no decay", 0.0), steps("decay", 0.1)]}
(FOLDER / "adamw_8bit.json").write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
