#!/usr/bin/env python3
"""Measures the kernels of one GPU with PyTorch, for `plan calibrate --kernels`: a few minutes, nothing else running.

Usage: measure_kernels.py --name H200-SXM-141GB --out kernels.json [--seconds 240]
  --name   what the device catalogue calls this GPU (`plan machines`), or any name with `--machine` later
  --device cpu runs a tiny version of everything on this computer: it shows that the script works, no more
Writes a table of the format plumbline.kernels/1: medians in seconds of one call, random data (zeros run faster).
Needs PyTorch 2.4 or later. What a software stack adds (fusion, launches, overlap) is not measured here: it comes with
--stack, or from whole runs (docs/calibrating.md).
"""
import argparse
import json
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F

# Output and inner features of linear layers, whole and divided by tensor parallelism: GPT-2 and Llama 3 sizes.
LAYERS = ((2048, 2048), (8192, 2048), (2048, 8192), (4096, 4096), (6144, 4096), (14336, 4096), (4096, 14336),
          (1792, 4096), (4096, 1792), (8192, 8192), (1024, 8192), (8192, 1024), (3584, 8192), (12288, 12288),
          (1536, 12288), (50304, 1600), (128256, 4096), (16032, 4096))
TOKENS = (512, 2048, 8192, 32768)
FORMATS = (("bf16", torch.bfloat16), ("fp16", torch.float16), ("tf32", torch.float32))
TOKENS_OF_OTHER_FORMATS = (2048, 8192)
# Batch, heads, key-value heads, head dimension of attention; sequences.
ATTENTION = ((1, 32, 8, 128), (1, 12, 12, 64), (4, 32, 32, 128))
SEQUENCES = (1024, 2048, 4096, 8192, 16384)
MOST_SCORES = 1 << 34
ADDED_ELEMENTS = (1 << 20, 1 << 24, 1 << 27, 1 << 29)
TINY_ELEMENTS, TINY_KERNELS = 32, 200


class Clock:
    """Medians of repeated calls, by the device's own events; says when the time that was given is used up."""

    def __init__(self, device, seconds):
        self.device = device
        self.end = time.time() + seconds

    def is_over(self):
        return time.time() > self.end

    def synchronize(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def median(self, call, budget=0.03, most=30):
        for _ in range(3):
            call()
        self.synchronize()
        begin = time.perf_counter()
        call()
        self.synchronize()
        count = int(max(5, min(most, budget / max(time.perf_counter() - begin, 1e-6))))
        if self.device == "cuda":
            events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
            for first, last in events:
                first.record()
                call()
                last.record()
            self.synchronize()
            return statistics.median(first.elapsed_time(last) for first, last in events) * 1e-3
        times = []
        for _ in range(count):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        return statistics.median(times)


def product(m, n, k, name, kind, seconds):
    return {"batch": 1, "m": m, "n": n, "k": k, "format": name, "kind": kind, "median_s": seconds}


def measure_products(clock, layers, tokens):
    entries = []
    for name, dtype in FORMATS:
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        for n, k in layers:
            for m in tokens if name == "bf16" else [t for t in tokens if t in TOKENS_OF_OTHER_FORMATS]:
                if clock.is_over():
                    return entries
                x, w, dy = (torch.randn(*shape, device=clock.device, dtype=dtype) for shape in ((m, k), (n, k), (m, n)))
                entries.append(product(m, n, k, name, "forward", clock.median(lambda: x @ w.t())))
                entries.append(product(m, k, n, name, "input_gradient", clock.median(lambda: dy @ w)))
                entries.append(product(n, k, m, name, "weight_gradient", clock.median(lambda: dy.t() @ x)))
                del x, w, dy
    return entries + measure_fp8(clock, layers, tokens)


def measure_fp8(clock, layers, tokens):
    entries = []
    if clock.device != "cuda" or torch.cuda.get_device_capability() < (8, 9):
        return entries
    one = torch.tensor(1.0, device="cuda")
    for n, k in layers:
        for m in tokens:
            if clock.is_over() or n % 16 or k % 16:
                continue
            x, w = (torch.randn(rows, k, device="cuda").to(torch.float8_e4m3fn) for rows in (m, n))
            call = lambda: torch._scaled_mm(x, w.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
            try:
                entries.append(product(m, n, k, "fp8_e4m3", "forward", clock.median(call)))
            except RuntimeError as refused:
                print(f"fp8 {m} x {n} x {k}: {refused}", file=sys.stderr)
                return entries
    return entries


def attention_kernel(device):
    """The kernel that is forced, and its name among the values of the trait `attention`."""
    if device != "cuda":
        return None, "flash-2"
    from torch.nn.attention import SDPBackend
    if torch.cuda.get_device_capability()[0] >= 10:
        return SDPBackend.CUDNN_ATTENTION, "cudnn"
    return SDPBackend.FLASH_ATTENTION, "flash-2"


def measure_attention(clock, shapes, sequences):
    entries = []
    backend, kernel = attention_kernel(clock.device)
    for batch, heads, kv_heads, head_dim in shapes:
        for sequence in sequences:
            if clock.is_over() or batch * heads * sequence * sequence > MOST_SCORES:
                continue
            q, k, v = (torch.randn(batch, h, sequence, head_dim, device=clock.device, dtype=torch.bfloat16,
                                   requires_grad=True) for h in (heads, kv_heads, kv_heads))
            options = {} if heads == kv_heads else {"enable_gqa": True}
            forward = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, **options)

            def timed():
                out = forward()
                gradient = torch.randn_like(out)
                return clock.median(forward), clock.median(
                    lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True))
            try:
                if backend is None:
                    forward_s, backward_s = timed()
                else:
                    from torch.nn.attention import sdpa_kernel
                    with sdpa_kernel(backend):
                        forward_s, backward_s = timed()
            except (RuntimeError, TypeError) as refused:
                print(f"attention {heads}/{kv_heads} heads of {head_dim}: {refused}", file=sys.stderr)
                continue
            entries.append({"batch": batch, "seq": sequence, "heads": heads, "kv_heads": kv_heads, "head_dim": head_dim,
                            "format": "bf16", "forward_s": forward_s, "backward_s": backward_s, "kernel": kernel})
    return entries


def tiny_kernel_s(clock):
    """Of one kernel among many without any work: the least that a kernel costs the device, its gap included."""
    x = torch.zeros(TINY_ELEMENTS, device=clock.device)
    if clock.device != "cuda":
        return clock.median(lambda: x.add_(1))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(TINY_KERNELS):
            x.add_(1)
    return clock.median(graph.replay) / TINY_KERNELS


def measure_memory_bound(clock, sizes):
    entries = [{"op": "tiny_add", "format": "fp32", "bytes": 12 * TINY_ELEMENTS, "median_s": tiny_kernel_s(clock)}]
    for elements in sizes:
        for name, dtype in (("bf16", torch.bfloat16), ("fp32", torch.float32)):
            if 3 * elements * dtype.itemsize > 8 << 30:
                continue
            x, y, z = (torch.randn(elements, device=clock.device, dtype=dtype) for _ in range(3))
            entries.append({"op": "add", "format": name, "bytes": 3 * elements * dtype.itemsize,
                            "median_s": clock.median(lambda: torch.add(x, y, out=z))})
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("measure_kernels: PyTorch sees no GPU here; expected one, or --device cpu to try the script")
    torch.manual_seed(0)
    clock = Clock(arguments.device, arguments.seconds)
    on_gpu = arguments.device == "cuda"
    table = {
        "format": "plumbline.kernels/1", "device": arguments.name,
        "machine": torch.cuda.get_device_name() if on_gpu else "a processor", "library": "PyTorch " + torch.__version__,
        "cores": 1,
        "memory_bound": measure_memory_bound(clock, ADDED_ELEMENTS if on_gpu else (1 << 16, 1 << 20)),
        "attention": measure_attention(clock, ATTENTION if on_gpu else ((1, 2, 2, 32),), SEQUENCES if on_gpu else (64, 128, 256)),
        "gemm": measure_products(clock, LAYERS if on_gpu else ((256, 256), (512, 128)), TOKENS if on_gpu else (512, 2048)),
        "collectives": [], "crowds": []}
    with open(arguments.out + ".part", "w", encoding="utf-8") as file:
        json.dump(table, file, indent=1)
        file.write("\n")
    os.replace(arguments.out + ".part", arguments.out)
    print(f"{len(table['gemm'])} products, {len(table['attention'])} of attention, {len(table['memory_bound'])} bound by "
          f"memory written to {arguments.out}")


if __name__ == "__main__":
    main()
