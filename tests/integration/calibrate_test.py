#!/usr/bin/env python3
"""The verb calibrate: own rows to a stack that every verb takes, its JSON, and what it refuses.

Usage: calibrate_test.py <plan>
"""
import json

import command
from command import Command, run


def own_run(name, micro_batch, step, **more):
    return dict({"id": name, "model": "llama-3-8b", "hardware": "H100-SXM-80GB", "gpus": 8, "gpus_per_node": 8,
                 "seq_len": 8192, "global_batch": 16, "micro_batch": micro_batch, "tp": 1, "pp": 1, "zero_stage": 3,
                 "recompute": "full", "precision": "bf16", "framework": "torchtitan", "release": "2024.12",
                 "compile": True, "measured": {"step_time_s": step}}, **more)


class Calibrate(Command):
    def predicted(self, stack, micro_batch):
        done = run("estimate", "--model", "llama-3-8b", "--machine", "dgx-h100", "--gpus", 8, "--seq-len", 8192,
                   "--global-batch", 16, "--micro-batch", micro_batch, "--zero", 3, "--recompute", "full", "--stack",
                   stack, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["prediction"]["step_time_s"]

    def runs(self, slower):
        steps = [slower * self.predicted("torchtitan-2024.12", b)["expected"] for b in (1, 2)]
        return self.written("runs.json", json.dumps([own_run("a", 1, steps[0]), own_run("b", 2, steps[1])])), steps

    def test_slower_runs_make_a_stack_that_predicts_them(self):
        rows, steps = self.runs(1.15)
        mine = self.folder / "mine.json"
        words = ["calibrate", "--rows", rows, "--stack", "torchtitan-2024.12", "--out", mine]
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        for said in ("left out", "90 % interval", "no row has a pipeline", "these rows were fitted: no prediction"):
            self.assertIn(said, done.stdout)
        after = self.predicted(mine, 1)
        self.assertLess(abs(after["expected"] / steps[0] - 1), 0.08)
        self.assertLess(after["low"], steps[0])
        self.assertLess(steps[0], after["high"])
        answer = json.loads(run(*words, "--json").stdout)
        self.assertEqual(answer["format"], "plumbline.calibrated/1")
        self.assertGreater(answer["mean_error"]["shipped"], answer["mean_error"]["fitted"])
        self.assertEqual(answer["stack"], json.loads(mine.read_text()))
        self.assertEqual(run(*words, "--json").stdout, run(*words, "--json").stdout)

    def test_mistakes_are_refused_in_one_line(self):
        rows, _ = self.runs(1.0)
        self.refused(["calibrate"], "--rows", "is missing")
        self.refused(["calibrate", "--rows", rows], "--out", "is missing")
        self.refused(["calibrate", "--rows", rows, "--out", "m.json", "--stack", "torchtitan-2024.1"], "unknown",
                     "nearest: torchtitan-2024.12")
        self.refused(["calibrate", "--rows", rows, "--out", "m.json", "--device", "H100"], "--device", "H100-SXM-80GB")
        self.refused(["calibrate", "--rows", rows, "--out", "m.json", "--stack", "plumbline", "--like", "plumbline"],
                     "--like", "one of them")
        self.refused(["calibrate", "--rows", "nowhere.json", "--out", "m.json"], "nowhere.json")
        silent = self.written("silent.json", json.dumps([own_run("a", 1, 1.0, use=["memory"])]))
        self.refused(["calibrate", "--rows", silent, "--out", "m.json"], "no row has a step time")
        self.assertFalse((self.folder / "m.json").exists())


if __name__ == "__main__":
    command.main()
