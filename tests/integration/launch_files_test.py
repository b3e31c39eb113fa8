#!/usr/bin/env python3
"""Plans as launch files of frameworks and back, by the command.

Usage: launch_files_test.py <plan>
"""
import json
import os
import subprocess

import command
from command import QUESTION, Command, run

# The frameworks whose launch script says the model, the batch and the strategy whole.
WHOLE = {"megatron-lm": "megatron-core-0.19"}


class LaunchFiles(Command):
    def plan_of(self, *words):
        path = self.folder / "own.json"
        done = run("estimate", *QUESTION, *words, "--out", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_a_plan_is_exported_imported_and_priced_the_same(self):
        for target, stack in WHOLE.items():
            plan = self.plan_of("--tp", 2, "--pp", 2, "--zero", 1, "--sequence-parallel", "--stack", stack)
            done = run("export", "--plan", plan, "--to", target, "--out", self.folder / target)
            self.assertEqual(done.returncode, 0, done.stderr)
            names = {os.path.basename(line) for line in done.stdout.splitlines()}
            self.assertLessEqual({"launch.sh", "job.slurm", "job.yaml"}, names)
            script = self.folder / target / "launch.sh"
            self.assertEqual(subprocess.run(["bash", "-n", script]).returncode, 0)
            again = run("estimate", "--import", script, "--from", target, "--machine", "dgx-h100", "--json")
            self.assertEqual(again.returncode, 0, again.stderr)
            before, after = json.loads(plan.read_text()), json.loads(again.stdout)
            self.assertEqual(before["strategy"], after["strategy"])
            self.assertEqual(before["prediction"], after["prediction"])

    def test_what_a_framework_lacks_is_said_or_with_strict_refused(self):
        plan = self.plan_of("--tp", 2, "--pp", 2, "--virtual-stages", 2, "--schedule", "zbv", "--recompute", "optimal")
        words = ["export", "--plan", plan, "--to", "megatron-lm", "--out", self.folder / "launch"]
        done = run(*words, "--strict")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Megatron-LM has no schedule zbv", done.stderr)
        self.assertFalse((self.folder / "launch").exists())
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("; nearest: schedule zbv -> ", done.stderr)
        self.assertRegex(done.stderr, r"plan: with the stack \S+ as planned \S+ m?s a step, \S+ GiB at the peak; the nearest ")
        self.assertTrue(os.access(self.folder / "launch/launch.sh", os.X_OK))

    def test_what_no_key_says_is_said_and_with_strict_refused(self):
        plan = self.plan_of("--tp", 1, "--zero", 2, "--gradient-precision", "fp32", "--optimizer-precision", "bf16")
        words = ["export", "--plan", plan, "--to", "lightning", "--out", self.folder / "launch"]
        done = run(*words, "--strict")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("plan: not said: gradients in fp32", done.stderr)
        self.assertIn("plan: not said: moments in bf16", done.stderr)
        self.assertFalse((self.folder / "launch").exists())
        self.assertEqual(run(*words).returncode, 0)

    def test_changes_are_launchable_and_in_the_own_flags_of_what_was_imported(self):
        script = self.written("train.sh", "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
                              "--ffn-hidden-size 14336 --num-attention-heads 32 --seq-length 8192 --swiglu "
                              "--max-position-embeddings 8192 --vocab-size 128255 --tokenizer-type NullTokenizer "
                              "--micro-batch-size 2 --global-batch-size 64 --bf16\n")
        words = ["fit", "--import", script, "--from", "megatron-lm", "--machine", "dgx-h100"]
        done = run(*words)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("-> optimal", done.stdout)
        self.assertIn("In Megatron-LM's own words:", done.stdout)
        self.assertIn("--use-distributed-optimizer", done.stdout)
        self.assertNotIn("In Megatron-LM's own words:", run(*words, "--for", "any").stdout)

    def test_fixes_that_are_given_apart_are_joined(self):
        question = ["search", "--model", "gpt2", "--machine", "dgx-h100", "--gpus", 8, "--global-batch", 64, "--json"]
        apart = run(*question, "--fix", "tp=2", "--fix", "zero=1")
        self.assertEqual(apart.returncode, 0, apart.stderr)
        self.assertEqual(apart.stdout, run(*question, "--fix", "tp=2,zero=1").stdout)

    def test_an_imported_plan_carries_its_network(self):
        script = self.written("train.sh", "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 6 --hidden-size 384 "
                              "--num-attention-heads 6 --seq-length 512 --max-position-embeddings 512 --vocab-size 5000 "
                              "--micro-batch-size 2 --global-batch-size 32 --bf16 --no-such-flag 3\n")
        done = run("import", script, "--from", "megatron-lm", "--machine", "dgx-h100", "--out", self.folder / "p.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--no-such-flag is not known here", done.stdout)
        for verb in ("fit", "explain", "simulate", "estimate"):
            by_plan = run(verb, "--plan", "p.json", "--json", cwd=self.folder)
            by_file = run(verb, "--import", script, "--from", "megatron-lm", "--machine", "dgx-h100", "--json")
            self.assertEqual(by_plan.returncode, 0, by_plan.stderr)
            if verb == "estimate":
                self.assertEqual(json.loads(by_plan.stdout)["prediction"], json.loads(by_file.stdout)["prediction"])

    def test_files_that_somebody_changed_stay(self):
        plan = self.plan_of("--zero", 2)
        words = ["export", "--plan", plan, "--to", "pytorch", "--out", self.folder / "launch"]
        self.assertEqual(run(*words).returncode, 0)
        self.assertEqual(run(*words).returncode, 0)  # they say the same
        own = self.folder / "launch/train.py"
        own.write_text("my own\n")
        self.refused(words, "--out: in ", "there are other files of these names: train.py; expected another folder, or --force")
        self.assertEqual(own.read_text(), "my own\n")
        self.assertEqual(run(*words, "--force").returncode, 0)
        self.assertIn("PIPELINE_STAGES", own.read_text())

    def test_a_script_that_would_not_start_is_not_written(self):
        path = self.folder / "bert.json"
        done = run("estimate", "--model", "bert-large", "--machine", "dgx-h100", "--gpus", 8, "--global-batch", 64, "--out", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        words = ["export", "--plan", path, "--to", "megatron-lm", "--out", self.folder / "launch"]
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("plan: missing: the network, of model_type 'bert'", done.stderr)
        self.assertFalse((self.folder / "launch").exists())
        self.assertEqual(run(*words, "--force").returncode, 0)

    def test_no_layers_and_no_heads_end_in_a_line(self):
        for flags in ("--num-layers 0 --num-attention-heads 6 --num-layers-per-virtual-pipeline-stage 1",
                      "--num-layers 4 --num-attention-heads 0"):
            script = self.written("train.sh", "torchrun --nproc_per_node 8 pretrain_gpt.py --hidden-size 384 --seq-length 512 "
                                  f"--micro-batch-size 2 --pipeline-model-parallel-size 2 {flags}\n")
            files = [script, "--from", "megatron-lm"]
            machine = ["--machine", "dgx-h100"]
            for words in (["import", *files], ["estimate", "--import", *files, *machine],
                          ["search", "--around", *files, *machine]):
                self.refused(words, "found 0")

    def test_wrong_files_are_refused_in_a_line(self):
        for text in ("", "ls here", "run 'open", "run --tensor-model-parallel-size many", "run ${open"):
            script = self.written("train.sh", text)
            self.refused(["fit", "--import", script, "--from", "megatron-lm", "--machine", "dgx-h100"], "train.sh")
        self.refused(["export", "--plan", self.plan_file(), "--to", "megatron"], "--to: unknown target 'megatron'")


if __name__ == "__main__":
    command.main()
