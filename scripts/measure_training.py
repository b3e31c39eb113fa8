#!/usr/bin/env python3
"""Measures whole training steps of one GPU with PyTorch: time, and memory by what holds it, beside plan run's.

Usage: measure_training.py --out FILE [--seconds 300] [--networks gpt2,llama-3.2-1b] [--device cuda|cpu] [--tiny]
  --networks  of the table below; --micro-batches and --sequence are those of the measured steps
  --device cpu and --tiny run small versions on this computer: they show that the script works, no more
Writes {"format": "plumbline.training_steps/1", "rows": [...]}: a row for each network and way to run it (eager or
compiled), with the median of its steps, tokens a second, model FLOPs a second (6 x parameters + causal attention) and
the allocator's peak. A row that does not fit says so. bf16 parameters, AdamW (fused), cross-entropy over all tokens.
Needs PyTorch 2.4 or later.
"""
import argparse
import json
import os
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    sys.exit("measure_training: PyTorch is not here; expected torch 2.4 or later (pip install torch)")

# layers, hidden, heads, key-value heads, width of the MLP, vocabulary, gated, micro-batch, sequence
NETWORKS = {
    "gpt2": (12, 768, 12, 12, 3072, 50257, False, 8, 1024),
    "gpt2-xl": (48, 1600, 25, 25, 6400, 50257, False, 4, 1024),
    "llama-3.2-1b": (16, 2048, 32, 8, 8192, 128256, True, 2, 4096),
}
TINY = (2, 64, 4, 2, 128, 256, True, 2, 32)


class Block(nn.Module):
    def __init__(self, hidden, heads, kv_heads, width, gated):
        super().__init__()
        self.heads, self.kv_heads, self.head = heads, kv_heads, hidden // heads
        self.norms = nn.ModuleList(nn.RMSNorm(hidden) for _ in range(2))
        self.qkv = nn.Linear(hidden, hidden + 2 * kv_heads * self.head, bias=False)
        self.out = nn.Linear(hidden, hidden, bias=False)
        self.up = nn.Linear(hidden, (2 if gated else 1) * width, bias=False)
        self.down = nn.Linear(width, hidden, bias=False)
        self.gated = gated

    def forward(self, x):
        batch, sequence, hidden = x.shape
        sizes = (hidden, self.kv_heads * self.head, self.kv_heads * self.head)
        q, k, v = self.qkv(self.norms[0](x)).split(sizes, dim=-1)
        q, k, v = (t.view(batch, sequence, -1, self.head).transpose(1, 2) for t in (q, k, v))
        options = {} if self.heads == self.kv_heads else {"enable_gqa": True}
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, **options)
        x = x + self.out(y.transpose(1, 2).reshape(batch, sequence, hidden))
        up = self.up(self.norms[1](x))
        if self.gated:
            gate, up = up.chunk(2, dim=-1)
            return x + self.down(F.silu(gate) * up)
        return x + self.down(F.gelu(up))


class Network(nn.Module):
    def __init__(self, layers, hidden, heads, kv_heads, width, vocabulary, gated):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.blocks = nn.ModuleList(Block(hidden, heads, kv_heads, width, gated) for _ in range(layers))
        self.norm = nn.RMSNorm(hidden)
        self.head = nn.Linear(hidden, vocabulary, bias=False)

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


def model_flops(network, shape, batch, sequence):
    layers, hidden = shape[0], shape[1]
    parameters = sum(p.numel() for p in network.parameters()) - network.embedding.weight.numel()
    return batch * sequence * (6 * parameters + 6 * layers * hidden * sequence)


def measure(device, shape, compiled, steps):
    *of_network, batch, sequence = shape
    torch.manual_seed(0)
    network = Network(*of_network).to(device=device, dtype=torch.bfloat16)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4, fused=device == "cuda")
    tokens = torch.randint(of_network[5], (batch, sequence), device=device)
    run = torch.compile(network) if compiled else network
    times = []
    for _ in range(steps + 3):
        begin = time.perf_counter()
        loss = run(tokens, tokens)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    median = statistics.median(times[3:])
    row = {"parameters": sum(p.numel() for p in network.parameters()), "micro_batch": batch, "sequence": sequence,
           "median_step_s": median, "tokens_per_s": batch * sequence / median,
           "model_flops_per_s": model_flops(network, of_network, batch, sequence) / median, "loss": loss.item()}
    if device == "cuda":
        row["peak_allocated_bytes"] = torch.cuda.max_memory_allocated()
        row["peak_reserved_bytes"] = torch.cuda.max_memory_reserved()
    return row


def rows_of(arguments):
    end = time.time() + arguments.seconds
    names = ["tiny"] if arguments.tiny else arguments.networks.split(",")
    for name in names:
        if name != "tiny" and name not in NETWORKS:
            sys.exit(f"measure_training: --networks: '{name}' is unknown; expected {', '.join(NETWORKS)}")
    for name in names:
        for compiled in (False,) if arguments.tiny else (False, True):
            row = {"network": name, "framework": "PyTorch " + torch.__version__, "compiled": compiled}
            if time.time() > end:
                yield {**row, "skipped": "the time that was given is over"}
                continue
            if arguments.device == "cuda":
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
            try:
                row.update(measure(arguments.device, TINY if name == "tiny" else NETWORKS[name], compiled,
                                   2 if arguments.tiny else 10))
            except torch.OutOfMemoryError as error:
                row["skipped"] = "out of memory: " + str(error).splitlines()[0]
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--networks", default="gpt2,gpt2-xl,llama-3.2-1b")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("measure_training: PyTorch sees no GPU here; expected one, or --device cpu --tiny to try the script")
    result = {"format": "plumbline.training_steps/1",
              "device": torch.cuda.get_device_name() if arguments.device == "cuda" else "a processor", "rows": []}
    for row in rows_of(arguments):
        result["rows"].append(row)
        print(json.dumps(row), flush=True)
        with open(arguments.out + ".part", "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
        os.replace(arguments.out + ".part", arguments.out)


if __name__ == "__main__":
    main()
