#!/usr/bin/env python3
"""The ends of every range: what is accepted gives numbers that can be, anything else one line; never a crash.

Usage: extremes_test.py <plan>    (EXTREMES_ROUNDS: how many random questions, 60; EXTREMES_SEED: which)
"""
import json
import math
import os
import random

import command
from command import Command, run

ROUNDS = int(os.environ.get("EXTREMES_ROUNDS", "60"))
SEED = int(os.environ.get("EXTREMES_SEED", "7"))
QUESTION = {"--model": "nano-llama", "--machine": "dgx-h100", "--gpus": "8", "--seq-len": "256", "--global-batch": "64"}
#: Smallest and largest accepted; core/training/limits.h says why.
RANGES = {"--gpus": (1, 10**7), "--seq-len": (1, 10**8), "--global-batch": (1, 10**9), "--tokens": (1, 10**18),
          "--lora-rank": (1, 10**6), "--tp": (1, 10**7), "--pp": (1, 10**7), "--dp": (1, 10**7), "--cp": (1, 10**7),
          "--ep": (1, 10**7), "--etp": (1, 10**7), "--virtual-stages": (1, 10**7), "--micro-batch": (1, 10**9),
          "--shard-group": (1, 10**7), "--zero": (0, 3)}
MODEL = {"model_type": "mixtral", "num_hidden_layers": 4, "hidden_size": 256, "num_attention_heads": 8,
         "num_key_value_heads": 4, "head_dim": 32, "intermediate_size": 512, "vocab_size": 1000, "num_local_experts": 4,
         "num_experts_per_tok": 2, "max_position_embeddings": 4096, "sliding_window": 128, "rope_theta": 10000.0,
         "rms_norm_eps": 1e-5, "attention_dropout": 0.0}


def words(question):
    return [word for pair in question.items() for word in pair if word is not None]


def numbers(value, path=""):
    """Every number of a JSON document with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from numbers(inner, f"{path}/{i}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def set_at(document, path, value):
    keys = path.strip("/").split("/")
    for key in keys[:-1]:
        document = document[int(key)] if isinstance(document, list) else document[key]
    last = int(keys[-1]) if isinstance(document, list) else keys[-1]
    document[last] = value


class Extremes(Command):
    def check_plan(self, plan, what):
        """Nothing negative but a margin, nothing beyond what a 64-bit count holds, no rate above the peak."""
        for path, value in numbers(plan):
            self.assertTrue(math.isfinite(value), (what, path, value))
            if path not in ("/verdict/margin_bytes",):
                self.assertGreaterEqual(value, 0, (what, path, value))
        prediction = plan["prediction"]
        step = prediction["step_time_s"]
        self.assertGreater(step["expected"], 0, what)
        self.assertLessEqual(step["expected"], 86400, what)
        self.assertLessEqual(step["low"], step["expected"], what)
        self.assertLessEqual(step["expected"], step["high"], what)
        self.assertLessEqual(prediction["mfu"], 1, what)
        self.assertLessEqual(prediction["hfu"], 1, what)
        self.assertLess(prediction["peak_memory_bytes"], 2**62, what)
        self.assertAlmostEqual(sum(prediction["time"].values()) / step["expected"], 1, delta=1e-9, msg=what)
        if plan["verdict"]["fits"]:
            self.assertLessEqual(prediction["peak_memory_bytes"], plan["verdict"]["capacity_bytes"], what)
        # What every step multiplies and keeps, whoever predicts it: a bound that no overflow would respect.
        tokens = plan["training"]["global_batch"] * plan["training"]["sequence_length"]
        self.assertLessEqual(tokens / step["expected"] / plan["machine"]["devices"] * 0.999,
                             prediction["tokens_per_s_per_gpu"], what)

    def answered(self, *asked, seconds=60):
        """Priced, refused in one line, or an honest no; whether it was priced."""
        done = run(*asked, cwd=self.folder)
        self.assertIn(done.returncode, (0, 1, 2), (asked, done.stderr))
        if done.returncode == 2:
            self.assertEqual(len(done.stderr.splitlines()), 1, (asked, done.stderr))
            self.assertLess(len(done.stderr), 1000, (asked, done.stderr))
            return None
        return done.stdout

    def priced(self, question, *more):
        out = self.answered("estimate", *words(question), "--json", *more)
        if out is not None:
            self.check_plan(json.loads(out), question)
        return out is not None

    def test_both_ends_of_every_flag(self):
        for flag, (smallest, largest) in RANGES.items():
            for value in (smallest, largest, largest - 1, largest // 3, 2**31 - 1, 2**31, 2**32 + 1):
                question = {**QUESTION, flag: str(value)}
                if smallest <= value <= largest:
                    self.priced(question)
            for value in (smallest - 1, largest + 1, 2**63 - 1, 2**63, 2**64 + 1, "-9223372036854775809", "1e30", "nan", "T"):
                self.refused(["estimate", *words({**QUESTION, flag: str(value)})], flag + ": ")

    def test_corners_of_several_flags(self):
        for gpus in (1, 8, 10**7):
            for sequence in (1, 2**20, 10**8):
                for batch in (1, 8, 10**6, 10**9):
                    for flash in ("on", "off"):
                        question = {**QUESTION, "--gpus": gpus, "--seq-len": sequence, "--global-batch": batch,
                                    "--flash-attention": flash, "--tokens": "1000000T"}
                        self.priced(question)
                        if gpus == 8 and batch >= 8:
                            self.priced({**question, "--micro-batch": batch // 8, "--zero": 3})
                            self.priced({**question, "--micro-batch": batch // 8, "--model": "nano-moe", "--dp": 8})

    def test_what_overflowed(self):
        base = {"--model": "gpt3-175b", "--machine": "dgx-h100", "--gpus": 8}
        self.assertFalse(self.priced({**base, "--global-batch": 10**9}))
        self.assertFalse(self.priced({**base, "--global-batch": 2**29, "--micro-batch": 2**26, "--seq-len": 2**26}))
        self.assertFalse(self.priced({**base, "--global-batch": 2**29, "--micro-batch": 2**29, "--seq-len": 2**26,
                                      "--tp": 8}))
        self.refused(["estimate", *words({**QUESTION, "--pp": 216, "--gpus": 216, "--virtual-stages": 9942054})], "R07")
        slow = {"--model": "gpt2", "--machine": "a10g-pcie", "--gpus": 8, "--global-batch": 10**8}
        for verb in ("estimate", "fit", "simulate", "explain"):
            self.refused([verb, *words(slow)], "step: takes more than 24 hours ")
        none = run("search", *words({**base, "--global-batch": 10**9}))
        self.assertEqual(none.returncode, 1, none.stderr)
        self.assertIn("R20", none.stdout)

    def test_tokens_that_are_accepted_are_read_back(self):
        for tokens in (1, 10**15, 10**18, "1000000T", "999999T"):
            plan = self.folder / "plan.json"
            done = run("estimate", *words({**QUESTION, "--tokens": tokens}), "--out", plan)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(run("estimate", "--plan", plan).returncode, 0)
        self.refused(["estimate", *words({**QUESTION, "--tokens": "2000000T"})], "--tokens")

    def test_every_number_of_a_machine(self):
        good = json.loads(run("machines", "dgx-h100", "--json").stdout)
        texts = {"B": ("1 B", "1 GiB", "1048576 TiB"), "B/s": ("1 KB/s", "5.3 KB/s", "10000 TB/s"),
                 "FLOP/s": ("0.001 GFLOP/s", "1 TFLOP/s", "10000 PFLOP/s"), "W": ("1 W", "1 MW"), "s": ("0 s", "10 s")}

        def places(value, path=""):
            if isinstance(value, dict):
                for key, inner in value.items():
                    if key == "value" and isinstance(inner, str):
                        unit = inner.split()[-1].replace("us", "s")
                        kind = next(k for k in ("FLOP/s", "B/s", "W", "s", "B") if unit.endswith(k))
                        yield f"{path}/value", texts[kind]
                    elif key == "value":
                        yield f"{path}/value", (0, 1, 1000, 100000)
                    elif isinstance(inner, int):
                        yield f"{path}/{key}", (1, 7, 10**4, 10**6, 10**7, 2**31)
                    else:
                        yield from places(inner, f"{path}/{key}")
            elif isinstance(value, list):
                for i, inner in enumerate(value):
                    yield from places(inner, f"{path}/{i}")

        accepted = 0
        for path, values in places(good):
            for value in values:
                changed = json.loads(json.dumps(good))
                set_at(changed, path, value)
                machine = self.written("machine.json", json.dumps(changed))
                accepted += self.priced({**QUESTION, "--machine": machine, "--gpus": 16, "--tp": 2, "--pp": 2, "--zero": 3})
        self.assertGreater(accepted, 50)

    def test_slow_links_take_long_and_never_negative_time(self):
        machine = json.loads(run("machines", "dgx-h100", "--json").stdout)
        node = machine["cluster"]["nodes"][0]
        before = 0
        for rate in ("450 GB/s", "1 GB/s", "1 MB/s", "5.3e-06 GB/s"):
            node["interconnect"]["bandwidth"]["value"] = rate
            node["pcie_bandwidth"]["value"] = rate
            path = self.written("machine.json", json.dumps(machine))
            out = self.answered("estimate", *words({**QUESTION, "--machine": path, "--tp": 4}), "--json")
            if out is None:
                continue  # longer than a day
            plan = json.loads(out)
            self.check_plan(plan, rate)
            self.assertGreaterEqual(plan["prediction"]["step_time_s"]["expected"], before)
            before = plan["prediction"]["step_time_s"]["expected"]
        self.assertGreater(before, 0)

    def test_every_number_of_a_config(self):
        for key, value in MODEL.items():
            if isinstance(value, str):
                continue
            for other in (0, 1, 3, 10**5, 10**7, 10**9, 2**63 - 1, -1, 1e308):
                path = self.written("config.json", json.dumps({**MODEL, key: other}))
                self.priced({**QUESTION, "--model": path})
                self.priced({**QUESTION, "--model": path, "--lora-rank": 10**6, "--flash-attention": "off", "--micro-batch": 8})

    def test_random_extremes_of_every_verb(self):
        draw = random.Random(SEED)

        def amount(flag):
            smallest, largest = RANGES[flag]
            return draw.choice([smallest, largest, draw.randint(smallest, largest), 2**draw.randint(0, 26),
                                round(math.exp(draw.uniform(0, math.log(largest + 1)))), draw.randint(1, 16),
                                draw.choice([3, 5, 6, 7, 12, 216])])

        schedules = ["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zbv", "v-half", "dualpipev"]
        recompute = ["none", "full", "optimal", "every:2", "every:2147483647", "offload:1", "offload:2147483647",
                     "by-operator", "selective:core_attn"]
        for _ in range(ROUNDS):
            question = {**QUESTION, "--model": draw.choice(["nano-llama", "nano-moe", "t5-small", "gpt3-175b", "resnet-18"])}
            for flag in draw.sample(sorted(RANGES), draw.randint(1, 4)):
                question[flag] = amount(flag)
            # Long orders are another test's business.
            question["--global-batch"] = min(int(question["--global-batch"]), draw.choice([10**3, 10**9]))
            if draw.random() < 0.3:
                question["--schedule"] = draw.choice(schedules)
                question["--global-batch"] = min(int(question["--global-batch"]), 10**3)
            if draw.random() < 0.3:
                question["--recompute"] = draw.choice(recompute)
            if draw.random() < 0.2:
                question["--layers-per-stage"] = ",".join(str(draw.choice([0, 1, 6, 10**6])) for _ in range(draw.randint(1, 4)))
            verb = draw.choice(["estimate", "fit", "explain", "simulate", "search"])
            if verb == "search":
                axes = {"--tp": "tp", "--pp": "pp", "--dp": "dp", "--cp": "cp", "--ep": "ep", "--etp": "etp", "--zero": "zero",
                        "--virtual-stages": "virtual-stages", "--micro-batch": "micro-batch", "--shard-group": "shard-group",
                        "--schedule": "schedule", "--recompute": "recompute"}
                fixes = [f"{axes[flag]}={question.pop(flag)}" for flag in list(question) if flag in axes]
                question.pop("--layers-per-stage", None)
                question["--fix"] = ",".join(fixes) if fixes else "zero=0"
                question["--time-limit"] = draw.choice(["1s", "0.1 s"])
                self.answered(verb, *words(question))
            elif verb == "estimate":
                self.priced(question)
            else:
                self.answered(verb, *words(question))

    def test_numbers_of_the_other_flags(self):
        plan = self.folder / "plan.json"
        done = run("estimate", "--model", "nano-llama", "--machine", "this-computer", "--gpus", 1, "--global-batch", 2,
                   "--seq-len", 32, "--precision", "fp32", "--out", plan)
        self.assertEqual(done.returncode, 0, done.stderr)
        for flag in ("--steps", "--seed", "--schedule-steps", "--warmup-steps", "--checkpoint-every"):
            for value in ("-1", "9223372036854775808", "1e30", "x"):
                self.refused(["run", "--plan", plan, "--checkpoint", self.folder / "c", flag, value], flag + ": ")
        for flag in ("--learning-rate", "--clip"):
            for value in ("-1", "1e400", "nan", "inf", "x"):
                self.refused(["run", "--plan", plan, flag, value], flag + ": ")
        for value in ("0=1e400", "0=nan", "0=0", "2147483648=1", "-1=1", "0"):
            self.refused(["simulate", "--plan", plan, "--stage-speed", value], "--stage-speed: ")
        for value in ("1e400s", "-1s", "nan s", "1e300 d"):
            self.refused(["search", *words(QUESTION), "--time-limit", value], "--time-limit: ")
        for flag in ("--top", "--threads"):
            for value in (0, -1, 2**31, 2**63):
                self.refused(["search", *words(QUESTION), flag, value], flag + ": ")
        for flag in ("--fold", "--folds"):
            for value in (-1, 2**31, 2**63, "x"):
                self.refused(["calibrate", "--cross-validate", flag, value], flag)

    def test_degrees_of_rows_that_multiply_beyond_64_bits(self):
        row = {"id": "a", "model": "gpt2", "machine": "dgx-h100", "seq_len": 1024, "measured": {"step_time_s": 1.0}}
        big = {"tp": 2**23, "pp": 2**23, "cp": 2**18, "dp": 10**7, "nodes": 10**7, "gpus_per_node": 10**5,
               "micro_batch": 10**9, "grad_accum": 10**9}
        for keys in (list(big), ["tp", "pp", "cp"], ["nodes", "gpus_per_node"], ["micro_batch", "grad_accum", "dp"]):
            rows = self.written("rows.json", json.dumps([{**row, **{key: big[key] for key in keys}}]))
            done = run("validate", "--rows", rows, "--json")
            self.assertEqual(done.returncode, 1, done.stderr)  # all that was asked was skipped
            self.assertEqual(len(json.loads(done.stdout)["skipped"]), 1)

    def test_numbers_of_a_plan_file(self):
        plan = json.loads(self.plan_file().read_text())
        accepted = 0
        for part in ("machine", "training", "strategy"):
            for path, value in numbers(plan[part]):
                for other in (0, 1, 7, 2**31 - 1, 2**31, 10**9, 10**18, 2**63 - 1, -1, 1e300):
                    changed = json.loads(json.dumps(plan))
                    set_at(changed[part], path, other)
                    out = self.answered("estimate", "--plan", self.written("plan.json", json.dumps(changed)), "--json")
                    if out is not None:
                        accepted += 1
                        self.check_plan(json.loads(out), (part, path, other))
        self.assertGreater(accepted, 0)


if __name__ == "__main__":
    command.main()
