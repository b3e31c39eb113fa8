#!/usr/bin/env python3
"""plan doctor and plan run --backend cuda as people meet them, here and where parts are missing.

Usage: doctor_test.py <plan>
"""
import ctypes.util
import json
import os
import pathlib
import shutil
import subprocess

import command
from command import Command, run

MODULE = "libplumbline-cuda.so"


def library_file(name):
    """A shared library of the system, as a file."""
    short = ctypes.util.find_library(name)
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if line.endswith("/" + short):
            return line.split()[-1]
    return None


class Doctor(Command):
    def report(self, **variables):
        done = run("doctor", "--json", env={**os.environ, **variables})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_it_says_what_is_here_and_what_is_missing(self):
        done = run("doctor")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for words in ("This computer", "NVIDIA", "driver", "cuBLASLt", "Launch", "--backend could run", "cpu", "yes: up to 64"):
            self.assertIn(words, done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
        report = self.report()
        self.assertEqual(report["format"], "plumbline.doctor/1")
        self.assertGreaterEqual(report["computer"]["cores"], 1)
        self.assertGreater(report["computer"]["memory_bytes"], 1 << 28)
        self.assertEqual([one["name"] for one in report["libraries"]], ["cudart", "cuBLASLt", "cuDNN", "NCCL"])
        self.assertEqual([one["name"] for one in report["backends"]], ["cpu", "cuda"])
        self.assertTrue(report["backends"][0]["can_run"])
        missing = {one["what"] for one in report["missing"]}
        for library in report["libraries"]:
            self.assertEqual(library["version"] is None, library["name"] in missing, library)
        for one in report["missing"]:
            self.assertTrue(one["needed_for"] and one["command"], one)
        if not report["driver"]["installed"]:
            self.assertFalse(report["backends"][1]["can_run"])
            self.assertIn("NVIDIA driver", missing)

    def test_a_launch_is_reported_and_a_wrong_one_does_not_end_the_report(self):
        place = self.report(RANK="2", WORLD_SIZE="4", LOCAL_RANK="2")["launch"]["place"]
        self.assertEqual(place, {"launcher": "torchrun", "rank": 2, "ranks": 4, "local_rank": 2})
        launch = self.report(RANK="2", WORLD_SIZE="no", LOCAL_RANK="2")["launch"]
        self.assertIsNone(launch["place"])
        self.assertIn("WORLD_SIZE", launch["problem"])

    def test_programs_of_the_search_path_are_found(self):
        launcher = self.written("srun", "#!/bin/sh\n")
        self.assertNotIn("srun", self.report(PATH=str(self.folder))["launch"]["programs"])  # it cannot be executed
        launcher.chmod(0o755)
        self.assertEqual(self.report(PATH=str(self.folder))["launch"]["programs"], {"srun": str(launcher)})

    def test_mistakes_are_refused(self):
        self.refused(["doctor", "--jsn"], "--jsn", "unknown flag", "--json")
        self.refused(["doctor", "driver"], "driver")


class BackendCuda(Command):
    """A copy of the program, beside which lies what a test puts there."""

    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        self.program = self.folder / "bin/plan"
        shutil.copy(command.PLAN, self.program)
        self.plan = self.folder / "plan.json"
        done = run("estimate", "--model", "nano-gpt", "--machine", "this-computer", "--gpus", 1, "--seq-len", 32,
                   "--global-batch", 1, "--precision", "fp32", "--out", self.plan)
        self.assertEqual(done.returncode, 0, done.stderr)

    def ends(self, *says):
        done = subprocess.run([self.program, "run", "--plan", self.plan, "--backend", "cuda", "--steps", "1"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("plan: --backend cuda: "), done.stderr)
        for words in says:
            self.assertIn(words, done.stderr)

    def test_without_a_module(self):
        self.ends(f"{MODULE}: is not in {self.folder}/bin or {self.folder}/lib/plumbline", "plan doctor")

    def test_with_a_file_that_is_no_library(self):
        (self.folder / "bin" / MODULE).write_text("no library")
        self.ends(f"bin/{MODULE}: cannot be loaded")

    def test_with_a_library_that_is_no_module(self):
        library = library_file("m")
        if library is None:
            self.skipTest("the file of the mathematical library was not found")
        folder = self.folder / "lib/plumbline"
        folder.mkdir(parents=True)
        shutil.copy(library, folder / MODULE)
        self.ends(f"lib/plumbline/{MODULE}: is no module of this program")


if __name__ == "__main__":
    command.main()
