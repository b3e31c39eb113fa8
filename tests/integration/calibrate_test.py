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
        for said in ("left out", "90 % interval", "no run has a pipeline", "these runs were fitted: no prediction"):
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

    def log(self, scale=1.0, ranks=8):
        """What nccl-tests prints of rings that reach `scale` of 360 GB/s inside a node."""
        lines = ["# Collective test starting: all_gather_perf", "# nThread 1 nGpus 8"]
        lines += [f"#  Rank {r} Group  0 Pid 1 on node device {r} [0x00] NVIDIA H100 80GB HBM3" for r in range(ranks)]
        lines += ["#  size  count  type  redop  root  time  algbw  busbw  #wrong"]
        lines += [f"{b} {b // 4} float none -1 {32 + b * 7 / 8 / (scale * 360e3):.1f} 0 0 0" for b in (1 << 28, 1 << 30)]
        return self.written(f"node-{scale}-{ranks}.txt", "\n".join(lines) + "\n")

    def test_slow_links_make_a_machine_on_which_sharded_steps_take_longer(self):
        mine = self.folder / "mine.json"
        words = ["calibrate", "--collectives", self.log(0.5), "--machine", "dgx-h100", "--out", mine]
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("node_bandwidth", done.stdout)
        self.assertNotIn("network_bandwidth", done.stdout)  # nobody timed it
        self.assertIn("2 timed collectives of node-0.5-8.txt", run("machines", mine).stdout)
        answer = json.loads(run(*words, "--json").stdout)
        self.assertEqual(answer["format"], "plumbline.link_fit/1")
        self.assertEqual(answer["machine"], json.loads(mine.read_text()))
        self.assertAlmostEqual(answer["link_factors"]["node_bandwidth"], 0.5, delta=0.03)
        steps = [json.loads(run("estimate", "--model", "llama-3-8b", "--machine", machine, "--gpus", 8, "--global-batch", 8,
                                "--tp", 8, "--sequence-parallel", "on", "--json").stdout)["prediction"]["step_time_s"]["expected"]
                 for machine in ("dgx-h100", mine)]
        self.assertGreater(steps[1], 1.02 * steps[0])

    def test_bad_timings_write_nothing(self):
        mine = self.folder / "mine.json"
        for words, said in ((["--collectives", self.log(5), "--machine", "dgx-h100"], "what the machine's links carry"),
                            (["--collectives", self.log(1, 1), "--machine", "dgx-h100"], "node-1-1.txt:5: is of one rank"),
                            (["--collectives", self.log(1, 9), "--machine", "dgx-h100"], "at most 8 on each"),
                            (["--collectives", self.log(1)], "--machine: is missing"),
                            (["--collectives", self.folder / "none.txt", "--machine", "dgx-h100"], "none.txt"),
                            (["--collectives", "broadcast=" + str(self.log(1)), "--machine", "dgx-h100"],
                             "node-1-8.txt:1: is of all_gather_perf")):
            done = run("calibrate", *words, "--out", mine)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertFalse(mine.exists())

    def kernels(self, slower=1.0, **more):
        """A table that follows simple laws: 700 TFLOP/s of products, 2.6 TB/s of memory, 300 TFLOP/s of attention."""
        products = [{"batch": 1, "m": m, "n": n, "k": k, "format": "bf16", "kind": "forward",
                     "median_s": slower * 2 * m * n * k / 700e12} for m in (2048, 8192) for n in (4096, 8192)
                    for k in (4096, 8192)]
        attention = [{"batch": 1, "seq": s, "heads": 32, "kv_heads": 8, "head_dim": 128, "format": "bf16",
                      "forward_s": slower * 2 * 32 * s * s * 128 / 300e12,
                      "backward_s": slower * 7 * 32 * s * s * 128 / 300e12} for s in (2048, 4096, 8192)]
        adds = [{"op": "add", "format": "bf16", "bytes": 6 << 29, "median_s": (6 << 29) / 2.6e12}]
        return self.written("kernels.json", json.dumps(dict(
            {"format": "plumbline.kernels/1", "device": "H100-SXM-80GB", "machine": "a GPU", "library": "its own",
             "cores": 1, "gemm": products, "attention": attention, "memory_bound": adds, "collectives": [],
             "crowds": []}, **more)))

    def test_kernels_of_a_gpu_make_a_device_that_predicts_by_them(self):
        steps = []
        for slower in (1.0, 1.5):
            mine = self.folder / "gpu.json"
            done = run("calibrate", "--kernels", self.kernels(slower), "--stack", "torchtitan-2024.12", "--out", mine)
            self.assertEqual(done.returncode, 0, done.stderr)
            for said in ("bf16 peak_fraction", "bandwidth_fraction", "gemm bf16", "attention backward"):
                self.assertIn(said, done.stdout)
            steps.append(self.predicted(mine, 1)["expected"])
        # Products and attention are most of the step, and all that became slower.
        self.assertGreater(steps[1] / steps[0], 1.3)
        self.assertLess(steps[1] / steps[0], 1.5)

    def test_whole_runs_go_on_from_the_kernels_of_a_gpu(self):
        gpu, mine = self.folder / "gpu.json", self.folder / "mine.json"
        self.assertEqual(run("calibrate", "--kernels", self.kernels(1.5), "--stack", "torchtitan-2024.12", "--out",
                             gpu).returncode, 0)
        steps = [1.1 * self.predicted(gpu, b)["expected"] for b in (1, 2)]
        rows = self.written("runs.json", json.dumps([own_run("a", 1, steps[0]), own_run("b", 2, steps[1])]))
        done = run("calibrate", "--rows", rows, "--stack", gpu, "--out", mine)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(abs(self.predicted(mine, 1)["expected"] / steps[0] - 1), 0.05)
        self.assertEqual(json.loads(mine.read_text())["device"], json.loads(gpu.read_text())["device"])

    def test_kernels_that_are_not_of_the_device_are_refused(self):
        words = ["calibrate", "--out", "m.json", "--stack", "torchtitan-2024.12", "--kernels"]
        self.refused(words[:3] + ["--kernels", self.kernels()], "--stack", "is missing")
        self.refused(words + [self.kernels(slower=1000)], "gemm", "of the dense bf16 peak of H100-SXM-80GB")
        self.refused(words + [self.kernels(device="H100-SXM-80G")], "not in the catalogue", "nearest: H100-SXM-80GB")
        self.refused(words + [self.kernels(device="mine"), "--machine", "dgx1-v100"], "memory_bound", "V100-SXM2-32GB")
        self.assertFalse((self.folder / "m.json").exists())

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
        self.refused(["calibrate", "--rows", silent, "--out", "m.json"], "no run has a step time")
        self.assertFalse((self.folder / "m.json").exists())


if __name__ == "__main__":
    command.main()
