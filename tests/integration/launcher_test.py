#!/usr/bin/env python3
"""A plan file against what the runtime does: what launcher.py rebuilds of each rank from plan.json alone is what the
runtime says of its own groups, parameters and actions (plan run --describe), for strategies drawn at random.

Usage: launcher_test.py <plan>. PLANS and SEED of the environment draw more or others.
"""
import copy
import json
import os
import random

import command
from command import run
from launcher import PlanFile

PLANS = int(os.environ.get("PLANS", "40"))
SEED = int(os.environ.get("SEED", "1"))
MOST_RANKS = 12
DEGREES = (1, 1, 1, 2, 3, 5, 6)
# Every degree divides heads, experts, features, vocabulary and sequence.
LLAMA = {"model_type": "llama", "vocab_size": 300, "hidden_size": 60, "intermediate_size": 60, "num_hidden_layers": 12,
         "num_attention_heads": 30, "num_key_value_heads": 30, "max_position_embeddings": 60, "hidden_act": "silu"}
NETWORKS = {
    "llama": {**LLAMA, "tie_word_embeddings": False},
    "tied": {**LLAMA, "tie_word_embeddings": True},
    "gpt2": {"model_type": "gpt2", "vocab_size": 300, "n_embd": 60, "n_head": 30, "n_layer": 12, "n_positions": 60},
    "moe": {**LLAMA, "model_type": "mixtral", "num_local_experts": 30, "num_experts_per_tok": 2, "tie_word_embeddings": False}}
SEQUENCE = 60
SCHEDULES = (("1f1b", 1), ("gpipe", 1), ("interleaved", 2), ("zb-h1", 1), ("zbv", 2), ("dualpipev", 2))
# Kinds of actions that launcher.py derives; collectives inside of a block follow from its operators.
DERIVED = {"forward", "backward", "backward-input", "backward-weight", "recompute", "send-forward", "receive-forward",
           "send-backward", "receive-backward", "all-gather-parameters", "release-parameters", "optimizer-step"}


def drawn(random_, number):
    """A network and a strategy's words, not always legal; each axis has each degree in turn."""
    network = random_.choice(list(NETWORKS))
    while True:
        degrees = [random_.choice(DEGREES) for _ in range(4)]
        degrees[number % 4] = DEGREES[-4:][number // 4 % 4]
        tp, pp, cp, dp = degrees
        ranks = tp * pp * cp * dp
        if 2 <= ranks <= MOST_RANKS:
            break
    schedule, chunks = random_.choice(SCHEDULES) if pp > 1 else ("none", 1)
    micro_batches = pp * chunks * random_.choice((1, 2)) if pp > 1 else random_.choice((1, 3))
    words = ["--tp", tp, "--pp", pp, "--cp", cp, "--dp", dp, "--zero", random_.choice((0, 1, 2, 3)), "--micro-batch", 1,
             "--recompute", random_.choice(("none", "none", "full", "every:2"))]
    if pp > 1:
        words += ["--schedule", schedule, "--virtual-stages", chunks]
    if tp > 1 and SEQUENCE % (tp * cp) == 0 and (network == "moe" or random_.random() < 0.5):
        words += ["--sequence-parallel", "on"]
    if network == "moe":
        experts_ranks = tp * cp * dp
        for flag in random_.sample(("--ep", "--etp"), 2):
            degree = random_.choice([d for d in (2, 3, 5, 6, 1) if experts_ranks % d == 0][:3])
            experts_ranks //= degree
            words += [flag, degree]
    shards = [d for d in range(1, dp * cp + 1) if dp * cp % d == 0]
    if random_.random() < 0.3 and words[words.index("--zero") + 1] > 0:
        words += ["--shard-group", random_.choice(shards)]
    if words[words.index("--zero") + 1] in (1, 2) and number % 2:
        words += ["--overlap", "none"]
    if words[words.index("--zero") + 1] == 3 and random_.random() < 0.5:
        words += ["--layers-per-unit", random_.choice((2, 2, 3, 4))]
    if words[words.index("--zero") + 1] == 3 and random_.random() < 0.5:
        words += ["--prefetch", "off"]
    if random_.random() < 0.25:
        words += ["--optimizer", random_.choice(("muon", "sgd", "lion"))]
    if network != "moe" and random_.random() < 0.2:
        words += ["--freeze", random_.choice(("embeddings", "layers:0-3"))]
    return network, ranks, words, dp * micro_batches


class Launcher(command.Command):
    def planned(self, network, ranks, words, batch):
        """The plan file, or nothing where the strategy is refused."""
        config = self.written("net.json", json.dumps(NETWORKS[network]))
        path = self.folder / "plan.json"
        done = run("estimate", "--model", config, "--machine", "this-computer", "--gpus", ranks, "--seq-len", SEQUENCE,
                   "--global-batch", batch, "--precision", "fp32", *words, "--out", path)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        return path if done.returncode == 0 else None

    def described(self, path):
        out = self.folder / "ranks.json"
        done = run("run", "--plan", path, "--steps", 1, "--generate", 0, "--held-out", 0, "--describe", out)
        if done.returncode == 2:  # what the runtime does not execute, in one line
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text())["ranks"]

    def compare_places(self, plan, path):
        done = run("estimate", "--plan", path, "--ranks", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        for place in json.loads(done.stdout)["ranks"]:
            rank = place["rank"]
            self.assertEqual(plan.place(rank), (place["host"], place["device"]))
            self.assertEqual({axis: plan.coordinate(rank, axis) for axis in place["coordinates"]}, place["coordinates"])

    def compare_rank(self, plan, ran):
        rank = ran["rank"]
        self.assertEqual(plan.stage(rank), ran["stage"])
        for name in plan.groups:
            if name != "embedding_tie":
                self.assertEqual(plan.members(rank, name), ran["groups"][name], name)
        if plan.groups["embedding_tie"]:
            self.assertEqual(plan.members(rank, "embedding_tie"), ran["groups"].get("pipeline_ends", []))
        self.assertEqual(plan.tokens(rank), [ran["tokens"]])
        self.assertEqual(plan.first_sequences(rank), ran["first_sequences"])
        self.assertEqual(plan.parameters(rank), [(p["name"], p["begin"], p["shape"], p["section"], p["first"], p["trained"])
                                                 for p in ran["parameters"]])
        self.assertEqual(plan.sections(rank), [tuple(s[key] for key in ("elements", "padded", "parts", "part", "begin", "count"))
                                               for s in ran["sections"]])
        self.assertEqual(plan.owned(rank), [tuple(one) for one in ran["owned"]])
        kept = plan.elements(rank)
        self.assertEqual((kept["weights"], kept["gradients"]), (ran["elements"]["weights"], ran["elements"]["gradients"]))
        self.assertEqual(kept["optimizer"], ran["elements"]["states"])
        self.compare_actions(plan, ran)

    def compare_actions(self, plan, ran):
        rank, actions = ran["rank"], ran["actions"]
        did = []
        for a in actions:
            of_optimizer = a["kind"] == "all-gather-parameters" and "chunk" not in a  # Muon works on whole matrices
            if a["kind"] in DERIVED and not of_optimizer:
                units = [] if a["kind"] == "release-parameters" else a.get("units", [a["execution"]] if "execution" in a else [])
                did.append((a["kind"], a.get("chunk"), a.get("micro_batch"), units))
        self.assertEqual(plan.actions(rank), did)
        last = {a["chunk"]: a["micro_batch"] for a in actions if a["kind"] in ("backward", "backward-weight")}
        each, at_end = {}, []
        for a in actions:
            if a["kind"] != "reduce-gradients" or "units" not in a:
                continue
            if "micro_batch" not in a or a.get("chunk") is None or last[a["chunk"]] == a["micro_batch"]:
                at_end.append(a["units"])
            else:
                each.setdefault(a["micro_batch"], []).append(a["units"])
        of_each, of_last = plan.reductions(rank)
        self.assertEqual(of_last, at_end)
        chunk_of = {unit: chunk for chunk, units in enumerate(plan.chunks(rank)) for unit in units}
        for micro_batch, buckets in each.items():
            for chunk in last:
                if last[chunk] != micro_batch:
                    self.assertEqual([b for b in of_each if chunk_of[b[0]] == chunk], [b for b in buckets if chunk_of[b[0]] == chunk])

    def test_what_a_launcher_rebuilds_is_what_the_runtime_does(self):
        random_ = random.Random(SEED)
        ran, draws, seen = 0, 0, set()
        while ran < PLANS:
            draws += 1
            self.assertLess(draws, 40 * PLANS, "too few of the strategies drawn are executed")
            question = drawn(random_, ran)
            path = self.planned(*question)
            described = self.described(path) if path else None
            if described is None:
                continue
            plan = PlanFile(path)
            with self.subTest(question=question):
                self.compare_places(plan, path)
                self.assertEqual([one["rank"] for one in described], list(range(plan.ranks())))
                for one in described:
                    self.compare_rank(plan, one)
            ran += 1
            words = question[2]
            seen |= {(flag, value) for flag, value in zip(words[::2], words[1::2])}
        if PLANS >= 40:
            for flag in ("--tp", "--pp", "--cp", "--dp"):
                for degree in (2, 3, 5, 6):
                    self.assertIn((flag, degree), seen)
            for zero in range(4):
                self.assertIn(("--zero", zero), seen)
            self.assertIn(("--schedule", "interleaved"), seen)
            self.assertIn(("--prefetch", "off"), seen)
            self.assertTrue(any(flag == "--ep" and value > 1 for flag, value in seen), seen)
            self.assertTrue(any(flag == "--etp" and value > 1 for flag, value in seen), seen)

    def test_a_plan_that_says_something_else_is_noticed(self):
        question = ("tied", 4, ["--pp", 2, "--dp", 2, "--zero", 3, "--recompute", "every:2"], 8)
        path = self.planned(*question)
        ran, plan = self.described(path), PlanFile(path)
        for place in (("groups", "shard", "stride"), ("groups", "embedding_tie", "stride"), ("blocks", 1, "parameters", 1, "shape", 0),
                      ("blocks", 1, "sections", 0, "padded"), ("stages", 1, "order", 0, "step"), ("stages", 0, "units", 0, 1),
                      ("stages", 0, "reductions", "last", 0, 0), ("replays", 0, 1), ("sequence", "slices", 0, 0, 1)):
            other = copy.copy(plan)
            other.launch = copy.deepcopy(plan.launch)
            other.groups = copy.deepcopy(plan.groups)
            at = {"groups": other.groups}.get(place[0], other.launch.get(place[0]))
            for key in place[1:-1]:
                at = at[key]
            at[place[-1]] += 1
            other.blocks = other.launch["blocks"]
            with self.subTest(place=place), self.assertRaises(Exception):
                for one in ran:
                    self.compare_rank(other, one)


if __name__ == "__main__":
    command.main()
