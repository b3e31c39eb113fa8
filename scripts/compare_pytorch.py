#!/usr/bin/env python3
"""A run of plan run beside PyTorch's, like for like: same network, weights, tokens, batch, precision, optimizer, recompute.

Usage: compare_pytorch.py step --plan P.json --run R.json --start DIR --tokens FILE --out O.json [--device cpu] [--eager]
       compare_pytorch.py table FOLDER       writes FOLDER/like.json and like.md of its like-*.pytorch.json, and prints the table
  --start   a checkpoint of the first weights, of plan run --steps 1 --learning-rate 0
  --tokens  what both train on: u32 numbers, nothing held out
PyTorch takes as many steps as the record has, at its learning rates, over the sequences that plan run draws from its seed. Exits
with 1 where losses of steps differ by more than the precision's tolerance; a plan that PyTorch is not given here is refused.
"""
import argparse
import array
import json
import pathlib
import statistics
import struct
import sys
import time

# Relative, of a loss: sums in another order, behind each other's updates; bf16 rounds by up to 2^-8.
TOLERANCE = {"fp32": 1e-4, "bf16": 2**-8}
BETAS, EPSILON, DECAY, CLIP = (0.9, 0.95), 1e-8, 0.1, 1.0  # plan run's defaults (docs/running.md)
WARMUP_STEPS = 3  # of PyTorch's, which are not timed: the first steps allocate, and compile
MASK = 2**64 - 1


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def mixed(z):
    """SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014, figures 16 and 17)."""
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def places(count, length, seed, step, sequences):
    """Where the sequences of a step begin, as runtime/training/data_feed.h says. Steps count from 0."""
    return [mixed(mixed(mixed(seed) ^ step) ^ sequence) * (count - length) >> 64 for sequence in range(sequences)]


def question(plan):
    """What both are given, of a plan file; refuses what PyTorch is not given here."""
    strategy, training, network = plan["strategy"], plan["training"], plan["launch"]["network"]
    wanted = {"data_parallel": 1, "tensor_parallel": 1, "pipeline_stages": 1, "context_parallel": 1, "expert_parallel": 1,
              "optimizer": "adamw"}
    for key, value in wanted.items():
        if strategy[key] != value:
            raise SystemExit(f"compare_pytorch: /strategy/{key} is {strategy[key]}; expected {value}")
    for key, value, choices in (("precision", strategy["precision"], list(TOLERANCE)), ("recompute", strategy["recompute"], ["none", "full"]),
                                ("model_type", (network or {}).get("model_type"), ["gpt2", "llama"])):
        if value not in choices:
            raise SystemExit(f"compare_pytorch: the plan's {key} is {value}; expected one of {', '.join(choices)}")
    usual = 0.1 if network["model_type"] == "gpt2" else 0.0  # GPT2Config's
    if any(network.get(key, usual) for key in ("resid_pdrop", "embd_pdrop", "attn_pdrop")):
        raise SystemExit("compare_pytorch: the network has dropout, whose draws no two programs share; expected a plan without")
    return {"network": network, "sequence": training["sequence_length"], "batch": training["global_batch"],
            "micro_batch": strategy["micro_batch"], "precision": strategy["precision"], "optimizer": strategy["optimizer"],
            "recompute": strategy["recompute"]}


def weights_of(folder, torch):
    """Of the newest step: name to tensor, without safetensors' own package."""
    file = sorted(pathlib.Path(folder).glob("step-*/model.safetensors"))[-1]
    types = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
    with open(file, "rb") as stream:
        header = json.loads(stream.read(struct.unpack("<Q", stream.read(8))[0]))
        begin = stream.tell()
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            first, last = entry["data_offsets"]
            stream.seek(begin + first)
            data = bytearray(stream.read(last - first))
            yield name, torch.frombuffer(data, dtype=types[entry["dtype"]]).reshape(entry["shape"])


class Trainer:
    """AdamW over fp32 copies of what is kept in 16 bits, as the recipe bf16 has it; decay of matrices alone."""

    def __init__(self, torch, network, precision):
        self.torch, self.parameters = torch, [p for p in network.parameters() if p.requires_grad]
        self.masters = self.parameters if precision == "fp32" else [p.detach().float().requires_grad_() for p in self.parameters]
        groups = [{"params": [m for m in self.masters if m.dim() > 1], "weight_decay": DECAY},
                  {"params": [m for m in self.masters if m.dim() == 1], "weight_decay": 0.0}]
        self.adamw = torch.optim.AdamW(groups, lr=0.0, betas=BETAS, eps=EPSILON, fused=self.masters[0].is_cuda)

    def step(self, rate):
        """Of gradients that are there; forgets them."""
        torch = self.torch
        torch.nn.utils.clip_grad_norm_(self.parameters, CLIP)
        if self.masters is not self.parameters:
            for master, parameter in zip(self.masters, self.parameters):
                master.grad = parameter.grad.float()
                parameter.grad = None
        for group in self.adamw.param_groups:
            group["lr"] = rate
        self.adamw.step()
        self.adamw.zero_grad(set_to_none=True)
        if self.masters is not self.parameters:
            with torch.no_grad():
                torch._foreach_copy_(self.parameters, self.masters)


def trained(asked, run, start, tokens, device, is_compiled):
    """PyTorch's losses, median step and peak, over the steps of the record."""
    import torch
    import torch.nn.functional as F
    from reference_network import NETWORKS

    torch.backends.cuda.matmul.allow_tf32 = False
    dtype = torch.float32 if asked["precision"] == "fp32" else torch.bfloat16
    with torch.device("meta"):
        network = NETWORKS[asked["network"]["model_type"]](asked["network"])
    weights = {name: tensor.to(device=device, dtype=dtype) for name, tensor in weights_of(start, torch)}
    network.load_state_dict(weights, assign=True)
    del weights
    network.requires_grad_(True)
    trainer = Trainer(torch, network, asked["precision"])
    numbers = torch.tensor(tokens, dtype=torch.int64)
    length, micro = asked["sequence"], asked["micro_batch"]
    def loss_of(rows):
        logits = network(rows[:, :-1], asked["recompute"] == "full")
        return F.cross_entropy(logits.flatten(0, 1).float(), rows[:, 1:].flatten())
    forward = torch.compile(loss_of) if is_compiled else loss_of
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    losses, times = [], []
    for step, record in enumerate(run["steps"]):
        drawn = [numbers[place:place + length + 1] for place in places(len(tokens), length, run["seed"], step, asked["batch"])]
        rows = torch.stack(drawn).to(device)
        begin = time.perf_counter()
        parts = []
        for first in range(0, asked["batch"], micro):
            loss = forward(rows[first:first + micro]) * (micro / asked["batch"])
            loss.backward()
            parts.append(loss.detach())
        trainer.step(record["learning_rate"])
        losses.append(torch.stack(parts).sum().item())  # waits for the device
        times.append(time.perf_counter() - begin)
    peak = torch.cuda.max_memory_allocated() if device == "cuda" else None
    return {"by": f"PyTorch {torch.__version__}, {'compiled' if is_compiled else 'eager'}", "losses": losses,
            "step_s": statistics.median(times[min(WARMUP_STEPS, len(times) - 1):]), "peak_bytes": peak}


def own(run):
    times = [step["time_ns"] * 1e-9 for step in run["steps"][run["warmup_steps"]:]]
    return {"by": "plan run", "losses": [step["loss"] for step in run["steps"]], "step_s": statistics.median(times),
            "peak_bytes": run["ranks"][0]["memory"]["arena_bytes"]}


def compared(name, asked, flops, ours, others):
    """Rows of one table; `loss_difference`: the largest of any step, relative to plan run's."""
    rows = []
    for one in (ours, *others):
        apart = [abs(a - b) / abs(b) for a, b in zip(one["losses"], ours["losses"], strict=True)]
        rows.append({"run": name, **{key: value for key, value in asked.items() if key != "network"}, **one,
                     "model_flops_per_s": flops / one["step_s"], "loss_difference": max(apart),
                     "tolerance": TOLERANCE[asked["precision"]], "agrees": max(apart) <= TOLERANCE[asked["precision"]]})
    return rows


def step(arguments):
    plan, run = read(arguments.plan), read(arguments.run)
    asked = question(plan)
    tokens = array.array("I", pathlib.Path(arguments.tokens).read_bytes())
    ways = [False] if arguments.eager or arguments.device == "cpu" else [False, True]
    others = []
    for is_compiled in ways:
        try:
            others.append(trained(asked, run, arguments.start, tokens, arguments.device, is_compiled))
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            print(f"{arguments.out}: PyTorch {'compiled' if is_compiled else 'eager'}: {str(error).splitlines()[0]}")
    rows = compared(pathlib.Path(arguments.out).name.removesuffix(".pytorch.json"), asked, plan["prediction"]["model_flops_per_step"],
                    own(run), others)
    pathlib.Path(arguments.out).write_text(json.dumps({"format": "plumbline.like_for_like/1", "rows": rows}, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        if not row["agrees"]:
            raise SystemExit(f"compare_pytorch: {row['run']}: losses of {row['by']} differ by {row['loss_difference']:.2g} of plan run's; "
                             f"expected at most {row['tolerance']:g} in {row['precision']}")


def table_lines(rows):
    yield "| run | batch x sequence | precision | recompute | by | step, ms | model TFLOP/s | peak, GiB | loss, first and last | loss apart |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        peak = "not measured" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 2**30:.2f}"
        apart = "" if row["by"] == "plan run" else f"{row['loss_difference']:.1e}" + ("" if row["agrees"] else f", beyond {row['tolerance']:g}")
        yield (f"| {row['run']} | {row['batch']} x {row['sequence']} by {row['micro_batch']} | {row['precision']} | {row['recompute']} | {row['by']} | "
               f"{1e3 * row['step_s']:.2f} | {row['model_flops_per_s'] * 1e-12:.3g} | {peak} | {row['losses'][0]:.4f}, {row['losses'][-1]:.4f} | {apart} |")


def table(arguments):
    folder = pathlib.Path(arguments.folder)
    rows = [row for file in sorted(folder.glob("like-*.pytorch.json")) for row in read(file)["rows"]]
    (folder / "like.json").write_text(json.dumps({"format": "plumbline.like_for_like/1", "rows": rows}, indent=1) + "\n", encoding="utf-8")
    lines = list(table_lines(rows))
    (folder / "like.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    one = parts.add_parser("step")
    for flag in ("--plan", "--run", "--start", "--tokens", "--out"):
        one.add_argument(flag, required=True)
    one.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    one.add_argument("--eager", action="store_true")
    one.set_defaults(do=step)
    all_of = parts.add_parser("table")
    all_of.add_argument("folder")
    all_of.set_defaults(do=table)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    main()
