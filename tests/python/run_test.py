#!/usr/bin/env python3
"""A plan that Python trains gives what the command gives: losses, record, refusals; and it can be followed and ended."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import command
import plumbline

QUESTION = dict(model="nano-llama", machine="this-computer", seq_len=32, global_batch=4, precision="fp32")
# What no two runs have in common.
TIMES = {"time_ns", "start_ns", "end_ns", "median_ns", "process_resident_bytes"}
LONG = """
import sys, warnings
import plumbline
def progress(step):
    print("step", step.step, flush=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    record = plumbline.run(sys.argv[1], steps=1000000, generate=0, evaluate_every=1000000, progress=progress)
print(record.complete, 0 < len(record.losses) < 1000000, [one.category.__name__ for one in caught])
"""


def facts(value):
    if isinstance(value, dict):
        return {key: facts(one) for key, one in value.items() if key not in TIMES}
    return [facts(one) for one in value] if isinstance(value, list) else value


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def saved(self, **arguments):
        plan = plumbline.estimate(**{**QUESTION, **arguments})
        plan.save(self.folder / "plan.json")
        return plan, self.folder / "plan.json"

    def by_command(self, plan, *flags):
        """The steps that it prints and its record."""
        record = self.folder / "command.json"
        done = subprocess.run([command.PLAN, "run", "--plan", str(plan), "--json", "--record", str(record), *flags],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()], json.loads(record.read_text())

    def test_two_ranks_train_as_those_of_the_command(self):
        plan, file = self.saved(gpus=2)
        steps, record = self.by_command(file, "--steps", "3", "--learning-rate", "0.003", "--seed", "7", "--beta1", "0.8")
        heard = []
        for asked in plan, file:
            ours = plumbline.run(asked, steps=3, learning_rate=0.003, seed=7, beta1=0.8, progress=heard.append)
            self.assertEqual(ours.losses, [step["loss"] for step in steps])
            self.assertEqual(facts(ours.to_dict()), facts(record))
            self.assertIs(ours.complete, True)
        self.assertEqual([(step.step, step.loss) for step in heard], 2 * [(step["step"], step["loss"]) for step in steps])
        self.assertEqual(set(heard[0]), set(steps[0]))
        self.assertTrue(all(step.time_ns > 0 for step in heard))
        self.assertEqual([row["step"] for row in ours.to_rows()], [1, 2, 3])
        ours.save(self.folder / "ours.json")
        self.assertEqual(json.loads((self.folder / "ours.json").read_text()), ours.to_dict())
        self.assertTrue(plumbline.compare(plan, self.folder / "ours.json").memory)

    def test_a_run_goes_on_from_a_checkpoint(self):
        _, file = self.saved(gpus=2)
        whole = plumbline.run(file, steps=4, schedule_steps=4)
        plumbline.run(file, steps=2, schedule_steps=4, checkpoint=self.folder / "state")
        rest = plumbline.run(file, steps=2, resume=self.folder / "state")
        self.assertEqual(rest.losses, whole.losses[2:])

    def test_wrong_input_is_refused_in_the_commands_words(self):
        plan, file = self.saved(gpus=2)
        for arguments in (dict(steps=0), dict(lr_schedule="cosin"), dict(data="/nowhere/text"), dict(data_format="u16"),
                          dict(momentum=0.5), dict(beta1=2), dict(patience=2, held_out=0), dict(override="seed"), dict(lanes="thread"),
                          dict(resume="/nowhere/state"), dict(ranks="nccl"), dict(graph=True)):
            with self.subTest(**arguments):
                with self.assertRaises(plumbline.InputError) as caught:
                    plumbline.run(file, **arguments)
                self.assertEqual(str(caught.exception), command.refusal("run", "--plan", str(file), **arguments))
        with self.assertRaises(plumbline.InputError) as caught:
            plumbline.run(plan, stepss=3)
        self.assertEqual(str(caught.exception), "stepss: unknown argument of plumbline.run; nearest: steps")
        with self.assertRaises(plumbline.InputError) as caught:
            plumbline.run(plan, lr=3)
        self.assertEqual(caught.exception.nearest, "learning_rate")

    def test_more_ranks_than_one_computer_runs_are_refused(self):
        plan = plumbline.estimate(model="gpt2", machine="dgx-h100", gpus=128, global_batch=128)
        plan.save(self.folder / "plan.json")
        with self.assertRaises(plumbline.InputError) as caught:
            plumbline.run(self.folder / "plan.json", steps=1)
        self.assertIn("128 ranks", str(caught.exception))
        self.assertEqual(str(caught.exception), command.refusal("run", "--plan", str(self.folder / "plan.json")))

    def test_what_is_no_thread_of_this_process_is_refused(self):
        plan, file = self.saved(gpus=1)
        for arguments in dict(backend="cuda"), dict(ranks="mpi"):
            with self.assertRaises(plumbline.InputError) as caught:
                plumbline.run(plan, steps=1, **arguments)
            self.assertIn("plan run", caught.exception.expected)
        code = "import plumbline, sys\nplumbline.run(sys.argv[1], steps=1)"
        launched = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False,
                                  env={**os.environ, "RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0",
                                       "LOCAL_WORLD_SIZE": "2"})
        self.assertIn("torchrun started 2 processes", launched.stderr)

    def test_what_progress_raises_ends_the_run_and_another_may_begin(self):
        plan, _ = self.saved(gpus=2)

        def stop(step):
            raise LookupError(step.step)

        with self.assertRaises(LookupError):
            plumbline.run(plan, steps=1000000, generate=0, progress=stop)
        self.assertEqual(len(plumbline.run(plan, steps=1).losses), 1)

    def test_a_signal_ends_the_run_behind_a_step(self):
        _, file = self.saved(gpus=2)
        with subprocess.Popen([sys.executable, "-c", LONG, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            self.assertEqual(process.stdout.readline(), "step 1\n", process.poll())
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(out.splitlines()[-1], "False True ['PlumblineWarning']")


if __name__ == "__main__":
    unittest.main()
