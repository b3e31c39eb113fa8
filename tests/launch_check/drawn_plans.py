"""Plans drawn at random for each launch target, and their files: what `make launch-check` and its test judge.

A target is given what its framework has (precisions, optimizers, axes of parallelism): most plans are then written as they
are, and the others as the nearest that it can launch. The draws rest on random.Random(SEED).random() alone, which every
Python gives alike. What `plan estimate` or `plan export` refuses is drawn again.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import subprocess

SEED, PLANS = 39, 100
ADAM = ["adamw", "adamw", "adam"]


class Target:
    """`files`: those that the framework, or Python, reads, its configuration first; `axes`: tensor, pipeline, context
    parallelism and sequence parallelism alongside the first; `joined`: how many at once; `exchanges`: how context-parallel
    ranks talk; `overlaps`: values of --overlap that its files say; `environments`: one for each release that its files are
    held against (the last one's verdicts are kept), and `module`, which has to be in them; `not_read`: why there is none."""

    def __init__(self, files, precisions, optimizers, axes, joined=3, zero=(0, 1, 1, 2, 3, 3), release="", full="full",
                 exchanges=("ring",), overlaps=(), environments=("common",), module="", not_read=""):
        self.files, self.precisions, self.optimizers, self.axes = files, precisions, optimizers, axes
        self.joined, self.zero, self.release, self.recompute = joined, zero, release, ["none", "none", full]
        self.exchanges, self.overlaps = exchanges, overlaps
        self.environments, self.module, self.not_read = environments, module, not_read


TARGETS = {
    "megatron-lm": Target(["arguments.txt"], ["fp32", "fp16", "bf16", "bf16", "fp8", "fp8-delayed", "fp8-block", "mxfp8", "nvfp4"],
                          ADAM + ["sgd", "momentum", "lion", "muon"], "tp pp cp sp", full="selective",
                          exchanges=("ring", "all-to-all"), overlaps=("both", "reductions", "none"),
                          environments=("megatron-0.17", "megatron-0.18", "megatron-0.19"), module="megatron.training"),
    "megatron-bridge": Target(["overrides.py"], ["fp16", "bf16", "bf16", "fp8", "fp8-delayed", "fp8-block", "mxfp8"],
                              ADAM + ["sgd", "lion"], "tp pp cp sp", full="selective",
                              exchanges=("ring", "all-to-all"), overlaps=("both", "reductions", "none"), environments=(),
                              not_read="importing it was tried with transformers 5.24, which lacks a module that it needs; its "
                                       "attributes are held against planner/frameworks/megatron/releases by "
                                       "tests/unit/planner/frameworks"),
    "deepspeed": Target(["ds_config.json", "train.py"], ["fp32", "fp16", "bf16", "bf16", "bf16-pure"],
                        ADAM + ["sgd", "momentum", "lion", "muon"], "tp pp cp", joined=1, exchanges=("all-to-all",),
                        overlaps=("reductions", "none")),
    # main and 0.3.0 are written as Python recipes: their test is tests/unit/planner/frameworks/torchtitan.
    "torchtitan": Target(["torchtitan.toml"], ["fp32", "bf16", "bf16", "bf16-pure", "fp8", "fp8-row", "mxfp8"], ADAM,
                         "tp pp cp sp", zero=(0, 2, 3, 3), release="0.2.2"),
    "accelerate": Target(["accelerate.yaml", "train.py"], ["fp32", "fp16", "bf16", "bf16", "fp8"], ADAM + ["sgd", "lion"], "tp cp"),
    "pytorch": Target(["train.py"], ["fp32", "bf16", "bf16", "bf16-pure"], ADAM + ["sgd", "momentum", "adagrad", "rmsprop"], "tp pp sp",
                      zero=(0, 2, 3, 3), module="torch"),
    "lightning": Target(["train.py"], ["fp32", "fp16", "bf16", "bf16", "bf16-pure", "fp16-pure"],
                        ADAM + ["sgd", "momentum", "lion"], "tp"),
}
# Layers that odd degrees divide: 12, 28, 32, 36, 40.
DENSE = ["gpt2", "gpt2-large", "gpt3-125m", "llama-2-13b", "llama-3-8b", "llama-3.2-1b", "llama-3.2-3b", "qwen3-4b", "qwen2-7b",
         "mistral-7b", "llama-3-70b"]
EXPERTS = ["mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite"]
# Heads and inner widths that odd tensor parallelism divides; it has to stay inside a part of one node.
ODD_TENSOR = {3: "gpt3-125m", 5: "gpt2-large", 6: "gpt3-125m"}
DEGREES = [1, 1, 2, 2, 3, 4, 5, 6, 8]


class Draw:
    def __init__(self, seed):
        self.source = random.Random(seed)

    def one_of(self, values):
        return values[int(self.source.random() * len(values))]

    def one_in(self, n):
        return self.source.random() * n < 1


def drawn_degrees(draw, target):
    degrees = {"tp": 1, "pp": 1, "cp": 1}
    left = [axis for axis in target.axes.split() if axis != "sp"]
    for _ in range(min(target.joined, len(left))):
        axis = draw.one_of(left)
        left.remove(axis)
        if axis != "cp" or target.joined == 1 or draw.one_in(3):
            degrees[axis] = draw.one_of([2, 3, 4] if axis == "cp" else DEGREES)
    return degrees


def parallel_words(draw, target, has_experts):
    degrees = drawn_degrees(draw, target)
    experts = draw.one_of([1, 2, 4, 8]) if has_experts and "pp" in target.axes else 1
    data = experts * draw.one_of([1, 1, 2, 3]) if has_experts else draw.one_of([1, 2, 3, 4, 6, 8])
    words = ["--gpus", degrees["tp"] * degrees["pp"] * degrees["cp"] * data, "--dp", data, "--ep", experts]
    words += [word for axis, degree in degrees.items() for word in ("--" + axis, degree)]
    if degrees["tp"] > 1 and "sp" in target.axes:
        words += ["--sequence-parallel", draw.one_of(["on", "on", "off"])]
    if degrees["cp"] > 1:
        words += ["--cp-comm", draw.one_of(target.exchanges)]
    if target.overlaps and draw.one_in(3):
        words += ["--overlap", draw.one_of(target.overlaps)]
    if degrees["pp"] > 1 and draw.one_in(4):
        words += ["--virtual-stages", 2]
    micro, micro_batches = draw.one_of([1, 1, 2, 3]), draw.one_of([1, 2, 3, 4, 6, 8]) * degrees["pp"]
    return words + ["--micro-batch", micro, "--global-batch", data * micro * micro_batches]


def recipe_words(draw, target):
    precision = draw.one_of(target.precisions)
    words = ["--precision", precision, "--machine", "dgx-b200" if precision in ("mxfp8", "nvfp4") else "dgx-h100"]
    words += ["--seq-len", draw.one_of([1024, 1536, 2048]), "--zero", draw.one_of(target.zero)]
    words += ["--optimizer", draw.one_of(target.optimizers), "--recompute", draw.one_of(target.recompute)]
    words += ["--flash-attention", draw.one_of(["on", "on", "on", "off"])]
    if draw.one_in(6):
        words += ["--freeze", draw.one_of(["embeddings", "layers:0-3"])]
    if draw.one_in(5):
        words += ["--lora-rank", draw.one_of([8, 16])]
    return words


def odd_words(draw, target):
    tensor = draw.one_of(list(ODD_TENSOR))
    stages = 2 if tensor == 3 and "pp" in target.axes and target.joined > 1 and draw.one_in(2) else 1
    micro, micro_batches = draw.one_of([1, 2, 3]), draw.one_of([2, 3, 4])
    words = ["--model", ODD_TENSOR[tensor], "--gpus", tensor * stages, "--dp", 1, "--tp", tensor, "--pp", stages]
    words += ["--sequence-parallel", draw.one_of(["on", "off"])] if "sp" in target.axes else []
    return words + ["--micro-batch", micro, "--global-batch", micro * micro_batches * stages]


def drawn_words(draw, target):
    if draw.one_in(8):
        return [str(word) for word in odd_words(draw, target) + recipe_words(draw, target)]
    has_experts = draw.one_in(4)
    words = ["--model", draw.one_of(EXPERTS if has_experts else DENSE)] + parallel_words(draw, target, has_experts)
    return [str(word) for word in words + recipe_words(draw, target)]


def run(plan, *words):
    return subprocess.run([plan, *map(str, words)], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300)


def export(plan, name, words, place):
    """{"plan", "files": digest} and, where the plan was replaced, "nearest"; None where the words are refused."""
    target = TARGETS[name]
    place.mkdir(parents=True, exist_ok=True)
    # One stack for all plans: files say what differs from its ways, and the default one follows the question.
    if run(plan, "estimate", *words, "--stack", "megatron-core-0.12", "--out", place / "plan.json", "--force").returncode != 0:
        return None
    release = ["--release", target.release] if target.release else []
    done = run(plan, "export", "--plan", place / "plan.json", "--to", name, "--out", place, "--force", *release)
    if done.returncode != 0:
        return None
    files = hashlib.sha256(b"\0".join((place / one).read_bytes() for one in target.files)).hexdigest()[:16]
    return {"plan": " ".join(words), "files": files, **({"nearest": True} if "; nearest: " in done.stderr else {})}


def draw_exports(plan, name, folder, count):
    """What each plan's export says; the files of plan N are in FOLDER/TARGET/N."""
    draw, kept = Draw(f"{SEED} {name}"), []
    while len(kept) < count:
        one = export(plan, name, drawn_words(draw, TARGETS[name]), pathlib.Path(folder) / name / str(len(kept)))
        kept += [one] if one else []
    return kept


def draw_all(plan, folder, names=tuple(TARGETS), count=PLANS):
    """Target to what draw_exports says."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(lambda name: draw_exports(plan, name, folder, count), names)))


def said_by_files(plan, name, place, words):
    """The numbers that `plan import` reads from the files: those of the plan in the place of another one."""
    files = [] if name == "megatron-lm" else [place / TARGETS[name].files[0]]
    # Not every framework's files say these.
    asked = [word for flag in ("--model", "--machine", "--gpus", "--seq-len") for word in (flag, words[words.index(flag) + 1])]
    done = run(plan, "import", *files, place / "launch.sh", "--from", name, *asked, "--json")
    if done.returncode != 0:
        raise ValueError(f"{place}: {done.stderr.splitlines()[0]}")
    flags = json.loads(done.stdout)["flags"]
    said = dict(zip(flags[::2], flags[1::2]))
    names = {"--tp": "tensor_parallel", "--pp": "pipeline_stages", "--cp": "context_parallel", "--ep": "expert_parallel",
             "--dp": "data_parallel", "--virtual-stages": "virtual_stages", "--micro-batch": "micro_batch",
             "--global-batch": "global_batch", "--zero": "zero_stage"}
    numbers = {key: int(said.get(flag, 0 if flag == "--zero" else 1)) for flag, key in names.items()}
    numbers["sequence_parallel"] = said.get("--sequence-parallel") == "on"
    numbers["micro_batches"] = numbers["global_batch"] // numbers["micro_batch"] // numbers["data_parallel"]
    return numbers


def expected(plan, name, place, export_of_it):
    """What a framework has to come to."""
    whole = json.loads((place / "plan.json").read_text(encoding="utf-8"))
    numbers = {key: value for key, value in whole["strategy"].items() if isinstance(value, (int, bool, str))}
    numbers |= {"global_batch": whole["training"]["global_batch"]}
    words = export_of_it["plan"].split()
    return numbers | (said_by_files(plan, name, place, words) if export_of_it.get("nearest") else {})


