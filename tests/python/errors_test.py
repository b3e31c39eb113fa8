#!/usr/bin/env python3
"""Wrong input is refused in the command's words, with arguments called as Python calls them."""
import os
import pickle
import tempfile
import unittest
import warnings

import command
import plumbline

QUESTION = dict(model="llama-3-8b", machine="dgx-h100", gpus=8, global_batch=64)
# What is wrong, for which function and verb.
REFUSED = [
    ("fit", dict(QUESTION, tp=3, gpus=3)),
    ("fit", dict(QUESTION, model="lama-3-8b")),
    ("fit", dict(QUESTION, machine="dgx-h1000")),
    ("fit", dict(QUESTION, seq_len=0)),
    ("fit", dict(QUESTION, zero=4)),
    ("fit", dict(QUESTION, zero=0.5)),
    ("fit", dict(QUESTION, schedule="1f2b")),
    ("fit", dict(QUESTION, recompute="all")),
    ("fit", dict(QUESTION, gpus="many")),
    ("fit", dict(QUESTION, precision=["bf16", "fp16"])),
    ("fit", dict(QUESTION, tokens="1T", samples=5)),
    ("estimate", dict(machine="dgx-h100", global_batch=64)),
    ("estimate", dict(plan="/nowhere/plan.json")),
    ("estimate", dict(plan="/nowhere/plan.json", tp=2)),
    ("estimate", dict(plan="/nowhere/plan.json", machine="dgx-h100")),
    ("estimate", dict(import_="/nowhere/run.sh", machine="dgx-h100")),
    ("estimate", dict(import_="/nowhere/run.sh", from_="megatron", machine="dgx-h100", tp=2)),
    ("estimate", dict(QUESTION, from_="deepspeed")),
    ("simulate", dict(QUESTION, pp=2, stage_speed={2: 0.5})),
    ("search", dict(QUESTION, top=0)),
    ("search", dict(QUESTION, objective="speed")),
    ("search", dict(QUESTION, for_="megatron")),
    ("search", dict(QUESTION, fix="tpp=8")),
    ("search", dict(QUESTION, executable=True, for_="deepspeed")),
    ("search", dict(QUESTION, time_limit="soon")),
    ("size", dict(QUESTION, tokens="1B", days=0)),
    ("size", dict(QUESTION)),
]
FOREIGN = {"tensor_parallel": "tp", "seq_length": "seq_len", "num_gpus": "gpus", "micro_batch_size": "micro_batch",
           "global_batch_size": "global_batch", "gradient_checkpointing": "recompute", "zero_stage": "zero"}


class Errors(unittest.TestCase):
    def refused(self, function, **arguments):
        with self.assertRaises(plumbline.InputError) as caught:
            getattr(plumbline, function)(**arguments)
        return caught.exception

    def test_refusals_are_those_of_the_command(self):
        for function, arguments in REFUSED:
            with self.subTest(function=function, **arguments):
                self.assertEqual(str(self.refused(function, **arguments)), command.refusal(function, **arguments))

    def test_foreign_and_misspelt_names_get_the_commands_hint(self):
        for theirs, ours in FOREIGN.items():
            error = self.refused("fit", **QUESTION, **{theirs: 2})
            self.assertEqual((error.where, error.nearest), (theirs, ours))
        error = self.refused("search", **QUESTION, objectiv="time")
        self.assertEqual(str(error), "objectiv: unknown argument of plumbline.search; nearest: objective")

    def test_errors_say_where_what_expected_and_nearest_and_survive_pickling(self):
        error = self.refused("fit", **dict(QUESTION, model="llama-3-8bb"))
        self.assertIsInstance(error, ValueError)
        self.assertTrue(error.where and error.what and "llama-3-8b" in error.nearest)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.nearest), (str(error), error.nearest))

    def test_plans_of_another_type_are_refused(self):
        self.assertIn("plan: is a int", str(self.refused("fit", plan=5)))
        self.assertIn("files: none is named", str(self.refused("import_files")))

    def test_what_the_system_refuses_is_an_environment_error(self):
        plan = plumbline.estimate(**QUESTION)
        with self.assertRaises((plumbline.EnvironmentError, plumbline.InputError)):
            plan.save("/nowhere/plan.json")
        with self.assertRaises(OSError) as caught:
            plan.save("/proc/plan.json")
        self.assertIsInstance(caught.exception, plumbline.EnvironmentError)

    def test_what_is_to_know_is_a_warning(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            self.addCleanup(os.chdir, before)
            with open("gpt2", "w", encoding="utf-8"):
                pass
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                plumbline.models("gpt2")
            os.chdir(before)
        self.assertEqual([warning.category for warning in caught], [plumbline.PlumblineWarning])
        self.assertIn("gpt2", str(caught[0].message))


if __name__ == "__main__":
    unittest.main()
