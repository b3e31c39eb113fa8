#!/usr/bin/env python3
"""Asks drawn questions of two builds of the command and says how their answers differ, group by group.

Usage: changed_answers.py OLD NEW [questions] [seed]      prints a table in Markdown

A question is a plan of a network on a machine, by degrees that divide its GPUs. It counts for every group that it belongs to.
What one build refuses is counted and not compared.
"""
import collections
import json
import random
import statistics
import subprocess
import sys

NETWORKS = ["gpt2", "gpt2-xl", "tinyllama-1.1b", "llama-3.2-1b", "llama-3-8b", "llama-2-13b", "llama-3-70b", "qwen2.5-7b", "mistral-7b", "mixtral-8x7b", "opt-30b"]
MACHINES = [("dgx-h100", 8), ("dgx-a100-80g", 8), ("dgx-a100-40g", 8), ("a100-80g-ethernet-100g", 8), ("h100-ethernet-100g", 8),
            ("dgx1-v100", 8), ("t4-pcie", 4), ("rtx4090-pcie", 4), ("rtx3090-pcie", 4), ("dgx-b200", 8)]
STACKS = ["", "", "", "pytorch-2.9", "deepspeed-2024", "torchtitan-2025.06"]
SLOW = ("ethernet", "v100", "t4", "rtx")


def divisors(n, most):
    return [d for d in range(1, min(n, most) + 1) if n % d == 0]


def drawn(rng):
    """Flags of one question, and the groups that it belongs to."""
    network = rng.choice(NETWORKS)
    machine, node = rng.choice(MACHINES)
    gpus = node * rng.choice([1, 1, 2, 3, 4, 6, 8])
    tensor = rng.choice(divisors(node, 8))
    stages = rng.choice(divisors(gpus // tensor, 8))
    data = gpus // tensor // stages
    zero = rng.choice([0, 1, 2, 3]) if data > 1 and stages == 1 else rng.choice([0, 1]) if data > 1 else 0
    flags = ["--model", network, "--machine", machine, "--gpus", str(gpus), "--seq-len", str(rng.choice([1024, 2048, 4096])),
             "--global-batch", str(data * 2 * stages * rng.choice([1, 2, 4])), "--tp", str(tensor), "--pp", str(stages),
             "--zero", str(zero), "--recompute", rng.choice(["none", "selective", "full"])]
    stack = rng.choice(STACKS)
    if stack:
        flags += ["--stack", stack]
    lora = rng.random() < 0.2
    if lora:
        flags += ["--lora-rank", "16"]
    groups = ["all"]
    if stages > 1 and gpus > node:
        groups.append("pipelines over slow networks" if any(s in machine for s in SLOW) else "pipelines over nodes")
    if stages == 1 and data > 1 and any(s in machine for s in SLOW):
        groups.append("data parallelism over slow links")
    if zero == 3:
        groups.append("ZeRO-3")
    if stack == "pytorch-2.9" and zero == 0:
        groups.append("replicas under torch.autocast")
    if any(s in machine for s in ("v100", "t4")):
        groups.append("V100 and T4")
    if lora:
        groups.append("LoRA")
    return flags, groups


def answer(plan, flags):
    done = subprocess.run([plan, "estimate", *flags, "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        return None
    said = json.loads(done.stdout)
    prediction = said["prediction"]
    return prediction["step_time_s"]["expected"], prediction["peak_memory_bytes"], said["verdict"]["fits"]


def percent(ratio):
    return f"{100 * (ratio - 1):+.1f} %"


def row(group, pairs):
    times = sorted(new[0] / old[0] for old, new in pairs)
    memory = sorted(new[1] / old[1] for old, new in pairs)
    other = sum(old[2] != new[2] for old, new in pairs)
    cells = [group, str(len(pairs))]
    for values in (times, memory):
        cells += [percent(statistics.median(values)), f"{percent(values[len(values) // 10])} to {percent(values[-1 - len(values) // 10])}"]
    return "| " + " | ".join([*cells, str(other)]) + " |"


def main():
    old, new = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 600
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    pairs = collections.defaultdict(list)
    refused = collections.Counter()
    for _ in range(count):
        flags, groups = drawn(rng)
        answers = answer(old, flags), answer(new, flags)
        if None in answers:
            refused["both" if answers == (None, None) else "the old one" if answers[0] is None else "the new one"] += 1
            continue
        for group in groups:
            pairs[group].append(answers)
    print("| questions | compared | step, median | step, 10 to 90 % | memory, median | memory, 10 to 90 % | other verdicts |")
    print("|---|---|---|---|---|---|---|")
    for group, found in pairs.items():
        print(row(group, found))
    print("\nrefused by " + ", ".join(f"{who}: {n}" for who, n in sorted(refused.items())))


if __name__ == "__main__":
    main()
