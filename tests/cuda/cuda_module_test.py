#!/usr/bin/env python3
"""plan run --backend cuda from a plan to its record, with the CUDA module carried out by the CPU.

Usage: cuda_module_test.py <plan> <libplumbline-cuda.so>
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PLAN, MODULE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
SIZES = ["--machine", "this-computer", "--seq-len", "16", "--global-batch", "2", "--precision", "fp32"]


class CudaModule(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for part in ("bin", "lib/plumbline"):
            (self.folder / part).mkdir(parents=True)
        shutil.copy(PLAN, self.folder / "bin/plan")
        shutil.copy(MODULE, self.folder / "lib/plumbline/libplumbline-cuda.so")

    def run_plan(self, *words):
        done = subprocess.run([self.folder / "bin/plan", *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def records(self, *strategy):
        self.run_plan("estimate", "--model", "nano-gpt", *SIZES, *strategy, "--out", "plan.json")
        records = []
        for backend in ("cpu", "cuda"):
            self.run_plan("run", "--plan", "plan.json", "--steps", 1, "--generate", 0, "--held-out", 0,
                          "--backend", backend, "--record", "m.json")
            records.append(json.loads((self.folder / "m.json").read_text()))
        return records

    def test_two_ranks_train_as_on_the_cpu(self):
        cpu, cuda = self.records("--gpus", 2, "--tp", 2)
        self.assertEqual((cpu["backend"], cuda["backend"]), ("cpu", "cuda"))
        for one, other in zip(cpu["steps"], cuda["steps"], strict=True):
            self.assertAlmostEqual(one["loss"], other["loss"], delta=1e-4 * one["loss"])
        for one, other in zip(cpu["ranks"], cuda["ranks"], strict=True):
            self.assertEqual(one["sent_per_step"], other["sent_per_step"])
        self.assertIn("predicted", self.run_plan("compare", "--plan", "plan.json", "--measured", "m.json"))

    def test_the_doctor_finds_the_module(self):
        module = json.loads(self.run_plan("doctor", "--json"))["module"]
        self.assertIsNone(module["problem"])
        self.assertTrue(module["file"].endswith("lib/plumbline/libplumbline-cuda.so"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
