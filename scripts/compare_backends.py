#!/usr/bin/env python3
"""Plans that are small enough for any computer, run by the CPU and by CUDA: the same losses, gradients and bytes.

Usage: compare_backends.py --plan PROGRAM --out O.json [--jobs N] [--only WORD]
  --plan  the program, with libplumbline-cuda.so beside it
  --jobs  comparisons at once (6): processes share the one GPU
  --only  comparisons whose flags hold this word
Prints a line for each plan, and exits with 1 where a loss or a gradient's norm differs by more than the precision's tolerance, where ranks
sent other numbers of bytes, or where a run failed. Plans that the program refuses to make are listed, and are no failure.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

# Relative, of losses and norms: sums in another order; bf16 rounds by up to 2^-8, fp16 by 2^-11, fp8 by 2^-4 (core/quantity/number_format.h).
TOLERANCE = {"fp32": 2e-4, "bf16": 2**-6, "bf16-pure": 2**-5, "fp16": 2**-7, "fp8": 2**-4}
STEPS = 4
GATED = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
         "vocab_size": 256, "max_position_embeddings": 64}
MODELS = {"gpt": {"model_type": "gpt2", "n_layer": 4, "n_head": 4, "n_embd": 64, "vocab_size": 256, "n_positions": 64},
          "llama": {"model_type": "llama", **GATED},
          "moe": {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2, **GATED}}
# Of ranks and what they hold; three and six ranks too.
LAYOUTS = ("--gpus 1", "--gpus 1 --micro-batch 2", "--gpus 2 --tp 2", "--gpus 2 --tp 2 --sequence-parallel", "--gpus 2 --pp 2", "--gpus 4 --pp 2 --tp 2",
           "--gpus 2", "--gpus 3", "--gpus 6 --zero 1", "--gpus 3 --zero 2", "--gpus 2 --zero 3", "--gpus 3 --zero 3", "--gpus 2 --cp 2",
           "--gpus 2 --pp 2 --schedule zb-h1", "--gpus 2 --pp 2 --virtual-stages 2", "--gpus 4 --ep 4", "--gpus 6 --ep 2 --zero 3")
# Of one rank.
RECIPES = ("--recompute full", "--recompute selective", "--optimizer sgd", "--optimizer lion", "--optimizer adagrad", "--optimizer rmsprop",
           "--optimizer muon", "--recompute offload:1")


def comparisons():
    for model in MODELS:
        for precision in TOLERANCE:
            yield f"--model {model} --precision {precision} --gpus 1"
        for layout in LAYOUTS:
            yield f"--model {model} --precision fp32 {layout}"
        for layout in LAYOUTS[2:8]:
            yield f"--model {model} --precision bf16 {layout}"
        for recipe in RECIPES:
            yield f"--model {model} --precision fp32 --gpus 1 {recipe}"
            yield f"--model {model} --precision bf16 --gpus 1 {recipe}"


def ran(words):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def last_line(text):
    return (text.strip().splitlines() or [""])[-1]


def apart(one, other, key):
    return max(abs(a[key] - b[key]) / max(abs(a[key]), 1e-30) for a, b in zip(one["steps"], other["steps"], strict=True))


def compared(program, flags):
    """What was found of one plan; "refused": the program makes no such plan."""
    with tempfile.TemporaryDirectory() as folder:
        plan = f"{folder}/plan.json"
        model = flags.split()[1]
        network = pathlib.Path(folder) / f"{model}.json"
        network.write_text(json.dumps(MODELS[model]), encoding="utf-8")
        made = ran([program, "estimate", "--model", network, *flags.split()[2:], "--machine", "this-computer", "--seq-len", "16", "--global-batch", "12", "--out", plan])
        if not pathlib.Path(plan).exists():
            return {"flags": flags, "refused": last_line(made.stderr)}
        records = []
        for backend in ("cpu", "cuda"):
            record = f"{folder}/{backend}.json"
            done = ran([program, "run", "--plan", plan, "--backend", backend, "--steps", str(STEPS), "--held-out", "0", "--generate", "0", "--record", record])
            if backend == "cpu" and done.returncode == 2:
                return {"flags": flags, "refused": last_line(done.stderr)}
            if done.returncode != 0:
                return {"flags": flags, "failed": f"{backend}: exit {done.returncode}: {last_line(done.stderr)}"}
            records.append(json.loads(pathlib.Path(record).read_text(encoding="utf-8")))
    cpu, cuda = records
    found = {"flags": flags, "loss_apart": apart(cpu, cuda, "loss"), "norm_apart": apart(cpu, cuda, "gradient_norm")}
    tolerance = TOLERANCE[flags.split()[3]]
    if not found["loss_apart"] <= tolerance or not found["norm_apart"] <= 8 * tolerance:
        found["failed"] = f"losses {found['loss_apart']:.1e}, norms {found['norm_apart']:.1e} apart; at most {tolerance:.1e} expected"
    if [rank["sent_per_step"] for rank in cpu["ranks"]] != [rank["sent_per_step"] for rank in cuda["ranks"]]:
        found["failed"] = "ranks sent other numbers of bytes"
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    found = []
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for one in pool.map(lambda flags: compared(asked.plan, flags), [flags for flags in comparisons() if asked.only in flags]):
            found.append(one)
            verdict = f"FAILED  {one['failed']}" if "failed" in one else f"refused {one['refused']}" if "refused" in one else \
                f"losses {one['loss_apart']:.1e}, norms {one['norm_apart']:.1e} apart"
            print(f"{one['flags']:70} {verdict}", flush=True)
            pathlib.Path(asked.out).write_text(json.dumps(found, indent=1), encoding="utf-8")
    failed = sum("failed" in one for one in found)
    print(f"{len(found)} plans, {sum('refused' in one for one in found)} refused, {failed} failed")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
