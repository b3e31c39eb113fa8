#!/usr/bin/env python3
"""plan run --backend cuda from a plan to its record, with the CUDA module carried out by the CPU.

Usage: cuda_module_test.py <plan> <libplumbline-cuda.so>
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

# Where there is no PyTorch: a python3 that says there is, and has the record's own losses for PyTorch's.
STAND_IN = f"""#!{sys.executable}
import os, pathlib, runpy, sys
words = sys.argv[1:]
if words[0] == "-c" and words[1] == "import torch":
    sys.exit(0)
if words[0] != "scripts/compare_pytorch.py":
    os.execv(sys.executable, [sys.executable, *words])
sys.argv = words
script = runpy.run_path(words[0])
def trained(asked, run, start, tokens, device, is_compiled):
    assert sorted(pathlib.Path(start).glob("step-*/model.safetensors")) and len(tokens) > asked["sequence"]
    return {{"by": "a stand-in", "losses": [step["loss"] for step in run["steps"]], "step_s": 1.0, "peak_bytes": None}}
script["step"].__globals__["trained"] = trained
script["main"]()
"""
PLAN, MODULE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
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

    def start(self, words, variables):
        return subprocess.run([self.folder / "bin/plan", *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=600, env={**os.environ, **(variables or {})})

    def run_plan(self, *words, variables=None):
        done = self.start(words, variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, code, *words, variables=None):
        done = self.start(words, variables)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

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
        for record, has_parts in ((cpu, False), (cuda, True)):
            for rank in record["ranks"]:
                self.assertEqual("device" in rank["memory"], has_parts)
        for rank in cuda["ranks"]:
            device = rank["memory"]["device"]
            self.assertEqual(device["ranks_on_device"], 2)
            self.assertEqual(device["parts"]["arena"], rank["memory"]["arena_bytes"])
        compared = self.run_plan("compare", "--plan", "plan.json", "--measured", "m.json")
        self.assertIn("memory of the device", compared)
        self.assertIn("the plan does not predict: ", compared)
        lines = json.loads(self.run_plan("compare", "--plan", "plan.json", "--measured", "m.json", "--json"))["device_memory"]
        self.assertEqual(lines[-1]["part"], "total")
        self.assertEqual(lines[-1]["measured_bytes"], sum(line["measured_bytes"] for line in lines[:-1]))

    def test_one_rank_over_nccl_trains_as_alone(self):
        self.run_plan("estimate", "--model", "nano-gpt", *SIZES, "--gpus", 1, "--out", "plan.json")
        records = []
        torchrun = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
        for ranks, variables in (("local", {}), ("nccl", {}), ("nccl", torchrun)):
            self.run_plan("run", "--plan", "plan.json", "--steps", 2, "--generate", 0, "--held-out", 0,
                          "--backend", "cuda", "--ranks", ranks, "--record", "m.json", variables=variables)
            records.append(json.loads((self.folder / "m.json").read_text()))
        self.assertEqual([record["transport"] for record in records], ["local", "nccl", "nccl"])
        for record in records[1:]:
            self.assertEqual([step["loss"] for step in record["steps"]], [step["loss"] for step in records[0]["steps"]])
            self.assertEqual(record["ranks"][0]["sent_per_step"], records[0]["ranks"][0]["sent_per_step"])
            # Of calls that connect ranks: 8 MiB in and out, of a group of several ranks alone.
            device = record["ranks"][0]["memory"]["device"]
            self.assertEqual(sum(device["parts"].values()), device["device_peak_bytes"])

    def test_steps_as_graphs_have_the_losses_of_steps_by_calls(self):
        (self.folder / "gpt.json").write_text(json.dumps({"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 64,
                                                          "vocab_size": 256, "n_positions": 64}))
        self.run_plan("estimate", "--model", "gpt.json", *SIZES, "--gpus", 1, "--out", "plan.json")
        records = []
        for flags in ((), ("--graph",), ("--graph", "--ranks", "nccl")):
            self.run_plan("run", "--plan", "plan.json", "--steps", 3, "--generate", 0, "--held-out", 0, "--backend", "cuda",
                          *flags, "--record", "m.json")
            records.append(json.loads((self.folder / "m.json").read_text()))
        self.assertEqual([record.get("launch") for record in records], [None, "graph", "graph"])
        for record in records[1:]:
            self.assertEqual([step["loss"] for step in record["steps"]], [step["loss"] for step in records[0]["steps"]])
            times = [action["end_ns"] - action["start_ns"] for action in record["ranks"][0]["actions"]]
            self.assertTrue(all(time > 0 for time in times), times)
        self.run_plan("compare", "--plan", "plan.json", "--measured", "m.json")

    def test_graphs_that_cannot_be_are_refused_in_one_line(self):
        self.run_plan("estimate", "--model", "nano-gpt", *SIZES, "--gpus", 2, "--tp", 2, "--out", "plan.json")
        run = ("run", "--plan", "plan.json", "--graph")
        self.assertEqual(self.refused(2, *run),
                         "plan: --graph: is given without --backend cuda; expected both, or neither\n")
        two = self.refused(2, *run, "--backend", "cuda")
        self.assertEqual(two.splitlines()[-1],
                         "plan: --graph: the plan has 2 ranks, and ranks that share a GPU hand each other events while a step is "
                         "given, and those cross from graph to graph; expected a plan of one rank, or no --graph")

    def test_nccl_needs_a_gpu_for_each_rank(self):
        self.run_plan("estimate", "--model", "nano-gpt", *SIZES, "--gpus", 2, "--tp", 2, "--out", "plan.json")
        self.assertIn("--ranks: \"nccl\" needs a GPU for each of the plan's 2 ranks, and there is 1",
                      self.refused(2, "run", "--plan", "plan.json", "--backend", "cuda", "--ranks", "nccl"))
        self.assertIn("without --backend cuda", self.refused(2, "run", "--plan", "plan.json", "--ranks", "nccl"))
        self.assertIn("LOCAL_RANK", self.refused(2, "run", "--plan", "plan.json", "--backend", "cuda", "--ranks", "nccl",
                                                 variables={"RANK": "0", "WORLD_SIZE": "2"}))

    def test_kernels_are_measured_into_a_table(self):
        self.run_plan("calibrate", "--backend", "cuda", "--brief", "--machine", "dgx-h100", "--kernels-out", "k.json")
        table = json.loads((self.folder / "k.json").read_text())
        self.assertEqual((table["format"], table["device"]), ("plumbline.kernels/1", "H100-SXM-80GB"))
        self.assertEqual({one["kind"] for one in table["gemm"]}, {"forward", "input_gradient", "weight_gradient"})
        self.assertEqual({one["format"] for one in table["gemm"]}, {"bf16", "fp16", "fp32"})
        self.assertTrue({"add", "tiny_add", "launch", "copy", "copy_to_host", "copy_from_host", "adamw"} <=
                        {one["op"] for one in table["memory_bound"]})
        self.assertEqual([one["kernel"] for one in table["attention"]], ["flash-2"])
        # Read as a table of kernels: only its times, of a CPU, fit no law of this GPU.
        self.assertIn("% of the", self.refused(2, "calibrate", "--kernels", "k.json", "--stack", "unknown",
                                               "--out", "stack.json"))
        self.assertIn("--kernels-out", self.refused(2, "calibrate", "--backend", "cuda"))

    def session(self, *words):
        path = os.environ["PATH"]
        if importlib.util.find_spec("torch") is None:
            (self.folder / "stand-in").mkdir(exist_ok=True)
            (self.folder / "stand-in/python3").write_text(STAND_IN)
            (self.folder / "stand-in/python3").chmod(0o755)
            path = f"{self.folder / 'stand-in'}:{path}"
        return subprocess.run([SCRIPTS / "gpu_session.sh", "--plan", self.folder / "bin/plan", "--tiny", "--out",
                               self.folder / "session", *words], capture_output=True, text=True, timeout=900,
                              env={**os.environ, "PATH": path})

    def test_the_session_of_a_gpu_runs_to_its_end(self):
        session = self.session()
        self.assertEqual(session.returncode, 0, session.stdout + session.stderr)
        self.assertIn("0 steps failed", session.stdout)
        folder = self.folder / "session"
        runs = [file.name.removesuffix(".compare.json") for file in folder.glob("*.compare.json")]
        self.assertGreaterEqual(len(runs), 20)
        self.assertTrue({"gpt", "gpt-tp2", "gpt-own-attention", "gpt-stochastic", "gpt-nccl", "gpt-graph"} <= set(runs))
        self.assertEqual(json.loads((folder / "gpt-graph.pair.json").read_text())["losses_apart"], 0)
        for name in runs:
            self.assertEqual(json.loads((folder / f"{name}.run.json").read_text())["backend"], "cuda")
            self.assertIn("step_time_s", json.loads((folder / f"{name}.compare.json").read_text()))
            self.assertTrue((folder / f"{name}.svg").read_text().startswith("<"))
        self.assertEqual(json.loads((folder / "kernels.json").read_text())["format"], "plumbline.kernels/1")
        self.assertEqual(json.loads((folder / "fit.json").read_text()), {"largest": 2, "next": None})
        rows = json.loads((folder / "speed.json").read_text())["rows"]
        self.assertTrue(set(runs) <= {row["run"] for row in rows})
        self.assertTrue(all(row["model_flops_per_s"] > 0 and row["share_of_product"] > 0 for row in rows))
        like = json.loads((folder / "like.json").read_text())["rows"]
        self.assertEqual([row["run"] for row in like], ["like-gpt-fp32"] * 2 + ["like-llama"] * 2)
        self.assertTrue(all(row["agrees"] and len(row["losses"]) == 3 for row in like), like)
        self.assertEqual({row["recompute"] for row in like}, {"none", "full"})
        self.assertIn("| like-llama | 4 x 16 by 2 | bf16 | full | plan run |", (folder / "like.md").read_text())
        self.assertFalse(list(folder.glob("*.start")))
        self.assertTrue({row["by"] for row in like} <= {row["by"] for row in rows})
        for part, missing in (("bench", folder / "bench.txt"), ("sanitizer", folder / "sanitizer.txt")):
            if not missing.exists():
                self.assertIn(f"skipped: {part}", session.stdout)
        # What is there is not done again; a part that was lost is.
        (folder / "gpt.compare.json").unlink()
        again = self.session("runs", "fit", "kernels")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn("== calibrate: there already", again.stdout)
        self.assertIn("== fit: there already", again.stdout)
        self.assertEqual(again.stdout.count("== run "), 1)
        self.assertNotIn("== doctor", again.stdout)

    def test_a_part_of_a_session_that_is_unknown_is_refused(self):
        refused = self.session("rnus")
        self.assertEqual((refused.returncode, "'rnus' is no part; expected one of check tests kernels runs" in refused.stderr),
                         (2, True))

    def test_a_session_that_cannot_begin_says_so(self):
        refused = subprocess.run([SCRIPTS / "gpu_session.sh", "--plan", "/nonexistent/plan"], capture_output=True,
                                 text=True)
        self.assertEqual((refused.returncode, "no such program" in refused.stderr), (2, True))

    def test_the_doctor_finds_the_module(self):
        module = json.loads(self.run_plan("doctor", "--json"))["module"]
        self.assertIsNone(module["problem"])
        self.assertTrue(module["file"].endswith("lib/plumbline/libplumbline-cuda.so"))
        self.assertIn("libcudnn.so.9", module["cudnn_problem"])

    def test_that_cudnn_is_missing_is_said(self):
        self.run_plan("estimate", "--model", "nano-gpt", *SIZES, "--gpus", 1, "--out", "plan.json")
        words = ("run", "--plan", "plan.json", "--steps", 1, "--generate", 0, "--held-out", 0, "--backend", "cuda")
        warning = "cuDNN's attention is not used, and attention takes longer: libcudnn.so.9"
        self.assertEqual(self.start(words, {}).stderr.count(warning), 1)
        self.assertNotIn(warning, self.start(words, {"PLUMBLINE_ATTENTION": "own"}).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
