#!/usr/bin/env python3
"""plan run, compare and calibrate --backend as people meet them: a plan trained on local ranks, and every mistake.

Usage: run_test.py <plan>
"""
import json
import pathlib
import re

import command
from command import Command, run

SIZES = ["--machine", "this-computer", "--seq-len", "32", "--global-batch", "4", "--precision", "fp32"]
QUESTION = ["--model", "nano-llama", *SIZES]


class Running(Command):
    def made_plan(self, *strategy, gpus=1):
        path = self.folder / "plan.json"
        done = run("estimate", *QUESTION, "--gpus", gpus, *strategy, "--out", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_losses_of_ranks_equal_those_of_one(self):
        losses = []
        for gpus, strategy in [(1, []), (4, ["--tp", 2, "--pp", 2])]:
            plan = self.made_plan(*strategy, gpus=gpus)
            done = run("run", "--plan", plan, "--steps", 3, "--json", "--record", self.folder / "m.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            steps = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([step["step"] for step in steps], [1, 2, 3])
            self.assertTrue(all(step["tokens_per_s"] > 0 for step in steps))
            losses.append([step["loss"] for step in steps])
        for one, several in zip(*losses):
            self.assertAlmostEqual(one, several, delta=1e-5 * abs(one))

    def test_frozen_layers_without_backward_train_under_every_recompute(self):
        # Nothing before layer 2 is trained: layers 0 and 1 keep nothing, and there is nothing to compute again.
        losses = []
        for recompute in ("none", "full", "selective", "every:2", "by-operator"):
            plan = self.made_plan("--freeze", "embeddings,layers:0-1", "--recompute", recompute)
            done = run("run", "--plan", plan, "--steps", 2, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            losses.append([json.loads(line)["loss"] for line in done.stdout.splitlines()])
        self.assertEqual(losses, losses[:1] * len(losses))

    def test_sharded_states_change_neither_losses_nor_norms(self):
        # As the command prices plans: this computer's stack reduces late and in buckets.
        for micro_batches in (1, 3):
            steps = []
            for gpus, strategy in [(1, []), (2, ["--zero", 1]), (2, ["--zero", 2]), (2, ["--zero", 3])]:
                plan = self.folder / "plan.json"
                done = run("estimate", *QUESTION, "--global-batch", 2 * micro_batches, "--gpus", gpus, *strategy,
                           "--out", plan)
                self.assertEqual(done.returncode, 0, done.stderr)
                done = run("run", "--plan", plan, "--steps", 2, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                steps.append([json.loads(line) for line in done.stdout.splitlines()])
            for several in steps[1:]:
                for one, other in zip(steps[0], several, strict=True):
                    for fact in ("loss", "gradient_norm"):
                        self.assertAlmostEqual(one[fact], other[fact], delta=1e-5 * one[fact])

    def test_held_out_text_is_evaluated_and_gone_on_with(self):
        plan = self.made_plan()
        words = ["run", "--plan", plan, "--steps", 4, "--evaluate-every", 2, "--generate", 5, "--prompt", "And God"]
        done = run(*words, "--json", "--record", self.folder / "m.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(["held_out_loss" in step for step in steps], [False, True, False, True])
        self.assertEqual([len(step.get("generated", "")) for step in steps], [0, 0, 0, 5])
        for step in steps:
            self.assertAlmostEqual(step["unigram_entropy"], 3.02, delta=0.01)
            self.assertGreater(step["model_flops_per_s"], 0)
            self.assertGreater(step["utilisation"], 0)
            self.assertIn("product", step["utilisation_of"])
        self.assertEqual(steps[-1]["time_left_s"], 0)
        record = json.loads((self.folder / "m.json").read_text())
        self.assertEqual(record["optimizer"], {"name": "adamw", "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8,
                                               "weight-decay": 0.1, "clip": 1.0})
        self.assertEqual(bytes(record["text"]["prompt"]), b"And God")
        self.assertEqual(len(record["text"]["generated"]), 5)
        self.assertEqual(run("compare", "--plan", plan, "--measured", self.folder / "m.json").returncode, 0)
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        for says in ("held out", "unigram entropy", "And God|", "of the product rate of 1 core"):
            self.assertIn(says, done.stdout)

    def test_numbers_of_the_optimizer_are_flags(self):
        plan = self.made_plan()
        losses = set()
        for words in ([], ["--beta1", 0.5], ["--beta2", 0.5], ["--epsilon", 0.01], ["--weight-decay", 0.9]):
            done = run("run", "--plan", plan, "--steps", 3, "--generate", 0, *words, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            losses.add(json.loads(done.stdout.splitlines()[-1])["loss"])
        self.assertEqual(len(losses), 5)
        self.refused(["run", "--plan", plan, "--momentum", 0.8], "--momentum: is not read by the plan's optimizer, adamw",
                     "expected --beta1, --beta2, --epsilon, --weight-decay")
        self.refused(["run", "--plan", plan, "--beta1", 1], "--beta1")
        self.refused(["run", "--plan", plan, "--held-out", 0.0001], "--held-out")
        self.refused(["run", "--plan", plan, "--prompt", ""], "--prompt: its value is empty")
        self.refused(["run", "--plan", plan, "--generate", 0, "--prompt", "In"], "--prompt: does nothing with --generate 0")
        self.refused(["run", "--plan", plan, "--held-out", 0, "--evaluate-every", 3], "--evaluate-every")

    def test_schedules_first_weights_and_clipping_are_flags(self):
        plan = self.made_plan()
        losses = []
        for words in ([], ["--init", "xavier"], ["--init", "he"], ["--init", "zero"], ["--clip-value", 1e-3],
                      ["--lr-schedule", "exponential"], ["--lr-schedule", "exponential", "--lr-decay", 0.5],
                      ["--lr-schedule", "step"], ["--lr-schedule", "step", "--lr-decay", 0.5, "--lr-decay-every", 1]):
            done = run("run", "--plan", plan, "--steps", 4, "--warmup-steps", 0, "--generate", 0, *words, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            steps = [json.loads(line) for line in done.stdout.splitlines()]
            losses.append(steps[-1]["loss"])
            rates = [step["learning_rate"] for step in steps]
            if "--lr-decay" in words:
                for rate, expected in zip(rates, (1e-3, 5e-4, 2.5e-4, 1.25e-4)):
                    self.assertAlmostEqual(rate, expected)
        self.assertEqual(len(set(losses)), 8)  # a factor of a half in every step, in two ways
        for words, says in [(["--init", "xavie"], "nearest: xavier"), (["--clip-value", -1], "--clip-value"),
                            (["--lr-decay", 0.5], "--lr-decay: is not read by --lr-schedule cosine"),
                            (["--lr-schedule", "exponential", "--lr-decay-every", 2], "--lr-decay-every: is not read"),
                            (["--lr-schedule", "step", "--lr-decay", 1.5], "--lr-decay"),
                            (["--patience", 1, "--held-out", 0], "--patience: nothing is held out")]:
            self.refused(["run", "--plan", plan, *words], says)

    def test_a_run_ends_when_its_held_out_loss_improves_no_more(self):
        plan = self.made_plan()
        words = ["run", "--plan", plan, "--learning-rate", 0, "--evaluate-every", 1, "--patience", 2, "--generate", 0,
                 "--checkpoint", self.folder / "state", "--json"]
        done = run(*words, "--steps", 9)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 3), done.stderr)
        self.assertIn("for 2 evaluations: the run ends here (--patience)", done.stderr)
        done = run("run", "--plan", plan, "--resume", self.folder / "state", "--steps", 9, "--generate", 0, "--json")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 1), done.stderr)
        self.refused(["run", "--plan", plan, "--resume", self.folder / "state", "--steps", 1, "--patience", 5],
                     "was trained with patience 2, not 5")

    def test_what_was_recorded_is_compared(self):
        plan = self.made_plan("--tp", 2, gpus=2)
        files = {name: self.folder / name for name in ("m.json", "t.json", "p.svg")}
        done = run("run", "--plan", plan, "--steps", 4, "--record", files["m.json"], "--trace", files["t.json"],
                   "--picture", files["p.svg"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("loss", done.stdout)
        self.assertIn("<svg", files["p.svg"].read_text())
        self.assertTrue(json.loads(files["t.json"].read_text())["traceEvents"])
        done = run("compare", "--plan", plan, "--measured", files["m.json"], "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode == 0, answer["bytes_equal"])
        self.assertEqual(len(answer["loss"]), 4)
        for line in answer["communication"]:
            self.assertEqual(line["predicted_bytes"], line["measured_bytes"], line)
        record = json.loads(files["m.json"].read_text())
        for sent in record["ranks"][1]["sent_per_step"]:
            sent["bytes"] += 4 if sent["group"] == "tensor" else 0
        changed = self.written("changed.json", json.dumps(record))
        done = run("compare", "--plan", plan, "--measured", changed)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("bytes differ", done.stdout)

    def expert_plan(self, name, *strategy, gpus=1):
        path = self.folder / name
        done = run("estimate", "--model", "nano-moe", *SIZES, "--gpus", gpus, *strategy, "--out", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_experts_on_several_ranks(self):
        one = self.expert_plan("one.json")
        several = self.expert_plan("several.json", "--ep", 2, "--pp", 2, gpus=4)
        for routing in ("learned", "balanced"):
            losses = []
            for plan in (one, several):
                record = self.folder / "m.json"
                done = run("run", "--plan", plan, "--steps", 2, "--expert-routing", routing, "--json", "--record", record)
                self.assertEqual(done.returncode, 0, done.stderr)
                losses.append([json.loads(line)["loss"] for line in done.stdout.splitlines()])
            for alone, together in zip(*losses):
                self.assertAlmostEqual(alone, together, delta=1e-5 * abs(alone))
            answer = json.loads(run("compare", "--plan", several, "--measured", record, "--json").stdout)
            experts = [line for line in answer["communication"] if line["group"] == "expert"]
            self.assertEqual(len(experts), 2)
            for line in experts:
                self.assertEqual(line["routed_bytes"], line["measured_bytes"], line)
                if routing == "balanced":
                    self.assertEqual(line["predicted_bytes"], line["measured_bytes"], line)
                elif line["predicted_bytes"] != line["measured_bytes"]:
                    self.assertIn("routing imbalance", line["cause"])
            document = json.loads(record.read_text())
            for sent in document["ranks"][1]["sent_per_step"]:
                sent["bytes"] += 4 if sent["group"] == "expert" else 0
            changed = self.written("changed.json", json.dumps(document))
            done = run("compare", "--plan", several, "--measured", changed)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("bytes differ", done.stdout)
        document["ranks"][1]["routed"][0]["execution"] = 99
        self.refused(["compare", "--plan", several, "--measured", self.written("bad.json", json.dumps(document))],
                     "/ranks/1/routed", "execution 99 does not exist")
        self.refused(["run", "--plan", several, "--expert-routing", "balance"], "--expert-routing", "nearest: balanced")

    def test_a_resumed_run_goes_on_with_the_same_losses(self):
        plan = self.made_plan()
        steps = []
        for words in (["--steps", 4], ["--steps", 2, "--checkpoint", "state"], ["--steps", 2, "--resume", "state"]):
            done = run("run", "--plan", plan, "--schedule-steps", 4, "--warmup-steps", 1, *words, "--json",
                       cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            steps.append([(step["step"], step["loss"]) for step in map(json.loads, done.stdout.splitlines())])
        self.assertEqual(steps[0], steps[1] + steps[2])

    def test_a_calibration_on_a_busy_computer_says_so(self):
        product = {"m": 128, "n": 256, "k": 256, "format": "fp32", "kind": "forward", "batch": 1, "median_s": 1e-3}
        table = {"format": "plumbline.kernels/1", "device": "this-computer", "machine": "here", "library": "loops",
                 "cores": 2, "gemm": [{**product, "k": k} for k in (128, 256, 512)], "attention": [],
                 "memory_bound": [{"op": "add", "format": "fp32", "bytes": 1 << 20, "median_s": 1e-4}],
                 "collectives": [], "crowds": []}
        for share, says in ((1, False), (0.4, True)):
            kernels = self.written("k.json", json.dumps({**table, "core_share": share}))
            done = run("calibrate", "--backend", "cpu", "--kernels", kernels, "--out", self.folder / "c.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("busy: kernels had 40 % of a core" in done.stderr, says, done.stderr)

    def test_the_page_lists_the_flags_of_the_command_with_their_values(self):
        spelled = re.compile(r"(--[a-z0-9-]+)(?: ([a-z0-9-]+(?:\|[a-z0-9-]+)+))?")
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/running.md").read_text(encoding="utf-8")
        table = page[page.index("## Flags of `plan run`"):].split("\n## ")[0]
        listed = {}
        for row in re.findall(r"^\| (`--.*?) \| ", table, re.MULTILINE):
            for flag, values in spelled.findall(row.replace("\\|", "|")):
                listed[flag] = listed.get(flag) or values
        helped = run("run", "--help").stdout
        offered = dict(re.findall(r"^  (--[a-z0-9-]+)(?: ([a-z-]+(?:\|[a-z-]+)+)?)?", helped, re.MULTILINE))
        del offered["--help"]
        self.assertEqual(sorted(listed), sorted(offered))
        self.assertEqual(offered["--ranks"], "local|mpi|nccl")  # or nothing was read
        self.assertEqual({flag: listed[flag] for flag, values in offered.items() if values},
                         {flag: values for flag, values in offered.items() if values})

    def test_mistakes_are_refused_before_any_work(self):
        plan = self.made_plan()
        self.refused(["run"], "--plan: is missing")
        self.refused(["run", "--plan", plan, "--steps", 0], "--steps")
        self.refused(["run", "--plan", plan, "--ranks", "loca"], "--ranks", "nearest: local")
        self.refused(["run", "--plan", plan, "--backend", "cud"], "--backend", "nearest: cuda")
        self.refused(["run", "--plan", plan, "--backend", "cuda", "--lanes", "threads"], "--lanes", "streams")
        self.refused(["run", "--plan", plan, "--data", "absent.txt"], "absent.txt")
        self.refused(["run", "--plan", plan, "--lr-schedule", "cosin"], "nearest: cosine")
        self.refused(["run", "--plan", plan, "--learning-rate", "x"], "--learning-rate")
        self.refused(["run", "--plan", plan, "--record", "no/folder/m.json"], "--record", "no folder")
        self.refused(["run", "--plan", plan, "--beside", "m.json"], "--beside")
        self.refused(["calibrate", "--backend", "cud", "--out", "c.json"], "--backend", "expected one of cpu, cuda")
        self.refused(["calibrate", "--backend", "cpu"], "--out: is missing")
        kernels = self.written("k.json", '{"format": "plumbline.kernels/2"}')
        self.refused(["calibrate", "--backend", "cpu", "--kernels", kernels, "--out", "c.json"], "k.json:/format")
        self.refused(["compare", "--plan", plan], "--measured: is missing")

    def test_what_a_config_asks_for_is_executed_or_refused(self):
        llama = {"model_type": "llama", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
                 "num_attention_heads": 4, "vocab_size": 256}
        for more, says in [({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, ["/rope_scaling", "yarn"]),
                           ({"hidden_act": "gelu"}, ["/hidden_act: a gate of gelu is not executed; expected silu"]),
                           ({"residual_multiplier": 0.2}, ["/residual_multiplier"]),
                           ({"model_type": "gemma2", "num_key_value_heads": 4, "head_dim": 8}, ["1 + weight"])]:
            config = self.written("config.json", json.dumps({**llama, **more}))
            plan = self.folder / "plan.json"
            done = run("estimate", "--model", config, *SIZES, "--gpus", 1, "--out", plan)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.refused(["run", "--plan", plan, "--steps", 1, "--record", "m.json"], "config.json:", *says)
            self.assertFalse((self.folder / "m.json").exists())
        losses = []
        for more in ({}, {"rope_scaling": {"type": "linear", "factor": 4.0}}, {"partial_rotary_factor": 0.5}):
            config = self.written("config.json", json.dumps({**llama, **more}))
            done = run("estimate", "--model", config, *SIZES, "--gpus", 1, "--out", plan)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run("run", "--plan", plan, "--steps", 2, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            losses.append(json.loads(done.stdout.splitlines()[-1])["loss"])
        self.assertEqual(len(set(losses)), 3, losses)
        done = run("run", "--plan", plan, "--steps", 1, "--checkpoint", self.folder / "state")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.written("config.json", json.dumps({**llama, "rope_theta": 5000}))
        self.refused(["run", "--plan", plan, "--steps", 1, "--resume", "state"], "plan")

    def test_ranks_of_mpi_need_mpi_and_as_many_processes(self):
        plan = self.made_plan("--tp", 2, gpus=2)
        done = run("run", "--plan", plan, "--ranks", "mpi", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("plan: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], "there is 1 process; expected 2|is not in this build")

    def test_a_plan_of_another_network_or_of_too_many_ranks_is_refused(self):
        plan = self.made_plan()
        document = json.loads(plan.read_text())
        document["model"]["fingerprint"] = "0123456789abcdef"
        self.refused(["run", "--plan", self.written("other.json", json.dumps(document))], "/model/fingerprint",
                     "not the one that the plan was made for")
        many = self.folder / "many.json"
        done = run("estimate", *QUESTION[:2], "--machine", "dgx-h100", "--gpus", 128, "--seq-len", 32, "--global-batch",
                   128, "--out", many)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.refused(["run", "--plan", many], "128 ranks", "at most 64")
        done = run("run", "--plan", plan, "--steps", 1, "--record", self.folder / "m.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.refused(["compare", "--plan", many, "--measured", "m.json"], "of another plan")

    def test_this_computer_is_searched(self):
        done = run("search", *QUESTION, "--gpus", 4, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["plans"][0]["machine"]["name"], "this-computer")


if __name__ == "__main__":
    command.main()
