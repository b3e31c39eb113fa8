#!/usr/bin/env python3
"""Learning rates of exported scripts are those of a run of the same plan.

Usage: launch_script_test.py <plan>.
"""
import json
import math

import command
from command import run
from training import Training

STEPS = 12


class LaunchScriptTest(Training):
    def factor_of(self, script):
        text = script.read_text()
        begin = text.index("def rate_factor")
        names = {"math": math}
        exec(text[begin:text.index("\n\n\n", begin)], names)  # pylint: disable=exec-used
        return names["rate_factor"]

    def test_rates_of_scripts_are_those_of_runs(self):
        plan = self.plan_of("--dp", 2, gpus=2)
        for schedule, final in (("constant", None), ("linear", 2e-4), ("cosine", 1e-4), ("inverse-sqrt", None)):
            with self.subTest(schedule=schedule):
                document = json.loads(plan.read_text())
                document["recipe"].update(steps=STEPS, learning_rate=2e-3, lr_schedule=schedule, warmup_steps=3,
                                          final_learning_rate=final)
                path = self.written("edited.json", json.dumps(document))
                record = self.folder / "record.json"
                done = run("run", "--plan", path, "--generate", 0, "--record", record)
                self.assertEqual(done.returncode, 0, done.stderr)
                rates = [step["learning_rate"] for step in json.loads(record.read_text())["steps"]]
                folder = self.folder / schedule
                done = run("export", "--plan", path, "--to", "pytorch", "--out", folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                factor = self.factor_of(folder / "train.py")(schedule, STEPS, 3, (final or 0) / 2e-3)
                self.assertEqual(len(rates), STEPS)
                for step, rate in enumerate(rates):
                    self.assertAlmostEqual(2e-3 * factor(step), rate, delta=1e-9)


if __name__ == "__main__":
    command.main()
