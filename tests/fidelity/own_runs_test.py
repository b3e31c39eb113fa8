#!/usr/bin/env python3
"""Runs of this program on a GPU, as plan estimate predicts them with the calibrations that ship: time and memory.

Usage: own_runs_test.py <plan>
The runs are models/measurements/*/runs.json. No time was fitted to them; of memory the context was (stack plumbline-cuda).
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAN = sys.argv.pop(1)
MEAN, WORST = 0.05, 0.2  # of all plans, each once; the worst are of 4 096 tokens, whose kernels the stack prices without their launches


class OwnRuns(unittest.TestCase):
    def estimated(self, session, run, folder):
        network = json.loads((ROOT / f"models/networks/{run['network']}.json").read_text(encoding="utf-8"))["config"]
        if "dropout" in run:
            network.update(dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), run["dropout"]))
        config = pathlib.Path(folder) / f"{run['network']}.json"
        config.write_text(json.dumps(network), encoding="utf-8")
        out = pathlib.Path(folder) / "plan.json"
        subprocess.run([PLAN, "estimate", "--model", config, "--machine", session["machine"], "--gpus", "1", "--seq-len", str(run["sequence"]),
                        "--global-batch", str(run["global_batch"]), "--micro-batch", str(run["micro_batch"]), "--precision", run["precision"],
                        "--optimizer", run["optimizer"], "--recompute", run["recompute"], "--stack", "plumbline-cuda", "--out", out],
                       check=True, capture_output=True)
        return json.loads(out.read_text(encoding="utf-8"))["prediction"]

    def test_steps_and_memory_are_as_predicted(self):
        sessions = sorted(ROOT.glob("models/measurements/*/runs.json"))
        self.assertTrue(sessions)
        for path in sessions:
            session = json.loads(path.read_text(encoding="utf-8"))
            apart = []
            with tempfile.TemporaryDirectory() as folder:
                for run in session["runs"]:
                    predicted = self.estimated(session, run, folder)
                    step = run["step_s"] / predicted["step_time_s"]["expected"] - 1
                    print(f"{run['network']:14} {run['micro_batch']:3} x {run['sequence']:5} {run['recompute']:5} {run['launch']:5} "
                          f"measured over predicted {step:+.1%}")
                    if run["launch"] == "calls":  # a graph of the same plan is printed beside it
                        apart.append(abs(step))
                    # What the device gave is never more than predicted; recompute's working memory is counted next to logits
                    # that are gone by then.
                    held = run["memory"]["device_peak_bytes"] / predicted["peak_memory_bytes"]
                    print(f"    memory {held - 1:+.1%}")
                    self.assertTrue((0.975 if run["recompute"] == "none" else 0.86) <= held <= 1.0, (run["network"], held))
            self.assertGreaterEqual(len(apart), 9)
            self.assertLessEqual(sum(apart) / len(apart), MEAN)
            self.assertLessEqual(max(apart), WORST)


if __name__ == "__main__":
    unittest.main()
