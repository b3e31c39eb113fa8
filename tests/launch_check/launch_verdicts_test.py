#!/usr/bin/env python3
"""What is exported today is what the frameworks read when verdicts.json was written (launch_check.py); no framework is needed.

Usage: launch_verdicts_test.py <plan>
"""
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile
import unittest

import drawn_plans
from launch_check import TRAINING, VERDICTS

PLAN = sys.argv.pop(1)
AGAIN = "run make launch-check, which lets the frameworks read the files anew, and commit tests/launch_check/verdicts.json"


def changes(folder):
    """A line for each plan whose files are others than those that were judged."""
    # Which plan stands in the place of another follows from prices, and a new fit may choose another one.
    jobs = [(name, number, one) for name, target in KEPT["targets"].items() for number, one in enumerate(target["plans"])
            if not one.get("nearest")]

    def again(job):
        name, number, kept = job
        place = pathlib.Path(folder) / name / str(number)
        now = drawn_plans.export(PLAN, name, kept["plan"].split(), place)
        if now is None:
            return f"{name}, plan {number}: is refused now ({kept['plan']})"
        return None if now["files"] == kept["files"] else f"{name}, plan {number}: other files ({kept['plan']})"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for line in pool.map(again, jobs) if line]


class LaunchVerdicts(unittest.TestCase):
    def test_files_are_those_that_were_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            changed = changes(folder)
        self.assertEqual(changed, [], f"{len(changed)} exports changed: {AGAIN}")

    def test_every_target_has_a_hundred_plans_with_a_verdict_or_says_why_not(self):
        self.assertEqual(set(KEPT["targets"]), set(drawn_plans.TARGETS))
        for name, target in KEPT["targets"].items():
            self.assertEqual(len(target["plans"]), drawn_plans.PLANS, name)
            if "not_read" in target:
                continue
            self.assertTrue(target["releases"], name)
            accepted = [one["verdict"] == "accepted" for one in target["plans"]].count(True)
            self.assertEqual(accepted, list(target["releases"].values())[-1]["accepted"], name)

    def test_scripts_trained_as_plan_run_does(self):
        self.assertEqual(set(KEPT["trained"]), set(TRAINING))
        for name, count in KEPT["trained"].items():
            self.assertGreater(count["tests"], 15, name)
            self.assertEqual(count["failed"], 0, name)

    def test_plans_reach_odd_degrees_every_precision_and_frozen_parts(self):
        words = " ".join(one["plan"] + " " for target in KEPT["targets"].values() for one in target["plans"])
        for said in ("--tp 3 ", "--tp 5 ", "--tp 6 ", "--pp 3 ", "--pp 6 ", "--cp 3 ", "--sequence-parallel off", "--lora-rank",
                     "--freeze embeddings", "--freeze layers:0-3", "--cp-comm all-to-all", "--overlap none", "--ep 2 ", "--virtual-stages 2", "--flash-attention off"):
            self.assertTrue(said in words, said)
        for name, target in drawn_plans.TARGETS.items():
            plans = " ".join(one["plan"] for one in KEPT["targets"][name]["plans"])
            for precision in target.precisions:
                self.assertTrue(f"--precision {precision} " in plans, f"{name}: {precision}")


if __name__ == "__main__":
    KEPT = json.loads(VERDICTS.read_text(encoding="utf-8"))
    unittest.main()
