#!/usr/bin/env python3
"""Two processes as two ranks of NCCL: plan run, with the CUDA module and NCCL carried out by the CPU.

NCCL's stand-in meets in a folder (tests/cuda/fake_nccl_files.h); the processes themselves meet as they would on GPUs, at
the address of torchrun's variables or in the folder of --rendezvous.
Usage: nccl_processes_test.py <plan> <libplumbline-cuda.so>
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PLAN, MODULE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
SIZES = ["--machine", "this-computer", "--seq-len", "16", "--global-batch", "2", "--precision", "fp32"]
MODEL = {"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 32, "vocab_size": 256, "n_positions": 64}
QUIET = ["--generate", "0", "--held-out", "0"]


def free_port():
    """Of two that follow each other, the first: the rendezvous takes the one behind MASTER_PORT."""
    for first in range(23000 + os.getpid() % 3000, 29000, 2):
        with socket.socket() as own, socket.socket() as next_one:
            try:
                own.bind(("", first))
                next_one.bind(("", first + 1))
            except OSError:
                continue
            return first
    raise RuntimeError("no port is free")


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for part in ("bin", "lib/plumbline", "nccl"):
            (self.folder / part).mkdir(parents=True)
        shutil.copy(PLAN, self.folder / "bin/plan")
        shutil.copy(MODULE, self.folder / "lib/plumbline/libplumbline-cuda.so")

    def start(self, words, variables=None):
        process = subprocess.Popen([self.folder / "bin/plan", *map(str, words)], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, **(variables or {})})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def run_alone(self, *words):
        process = self.start(words)
        out, problem = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, problem)
        return out

    def estimate(self, *strategy):
        (self.folder / "gpt.json").write_text(json.dumps(MODEL))
        self.run_alone("estimate", "--model", "gpt.json", *SIZES, "--gpus", 2, *strategy, "--out", "plan.json")

    def start_ranks(self, *words, port=None):
        """As torchrun starts them, on one computer."""
        port = port or free_port()
        return [self.start(["run", "--plan", "plan.json", *QUIET, "--backend", "cuda", "--ranks", "nccl", *words],
                           {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2",
                            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                            "PLUMBLINE_FAKE_NCCL": str(self.folder / "nccl")}) for rank in (0, 1)]

    def require_same_as_local_ranks(self, *words):
        ranks = self.start_ranks("--steps", 2, "--record", "m.json", *words)
        for process in ranks:
            out, problem = process.communicate(timeout=600)
            self.assertEqual(process.returncode, 0, out + problem)
        nccl = json.loads((self.folder / "m.json").read_text())
        self.run_alone("run", "--plan", "plan.json", *QUIET, "--backend", "cuda", "--steps", 2, "--record", "local.json")
        local = json.loads((self.folder / "local.json").read_text())
        self.assertEqual((nccl["transport"], local["transport"]), ("nccl", "local"))
        for one, other in zip(nccl["steps"], local["steps"], strict=True):
            self.assertAlmostEqual(one["loss"], other["loss"], delta=1e-5 * other["loss"])
        for one, other in zip(nccl["ranks"], local["ranks"], strict=True):
            self.assertEqual(one["sent_per_step"], other["sent_per_step"])
        return nccl

    def test_data_parallel_processes_train_as_local_ranks(self):
        self.estimate("--dp", 2)
        record = self.require_same_as_local_ranks()
        for rank in record["ranks"]:
            device = rank["memory"]["device"]
            self.assertEqual(device["ranks_on_device"], 1)
            self.assertEqual(sum(device["parts"].values()), device["device_peak_bytes"])
            self.assertGreaterEqual(device["parts"]["communication"], 16 << 20)

    def test_processes_of_a_pipeline_that_meet_in_a_folder_train_as_local_ranks(self):
        self.estimate("--pp", 2)
        self.require_same_as_local_ranks("--rendezvous", self.folder / "meeting")

    def require_that_the_other_says_so(self, killed, *words):
        self.estimate("--dp", 2)
        ranks = self.start_ranks("--steps", 100000, "--json", *words)
        self.assertIn("loss", ranks[0].stdout.readline())
        os.kill(ranks[killed].pid, signal.SIGKILL)
        begin = time.monotonic()
        left = ranks[1 - killed]
        _, problem = left.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(left.returncode, 3, problem)
        self.assertRegex(problem, rf"rank {1 - killed} \(stage 0\) (at|between) .*: rank {1 - killed} was stopped: "
                         f"the process of rank {killed} has ended without saying why")

    def test_a_process_that_is_killed_ends_the_other(self):
        self.require_that_the_other_says_so(1)

    def test_the_process_of_rank_0_that_is_killed_ends_the_other(self):
        self.require_that_the_other_says_so(0)

    def test_a_process_that_is_killed_is_missed_in_a_folder_too(self):
        self.require_that_the_other_says_so(1, "--rendezvous", self.folder / "meeting")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
