#!/usr/bin/env python3
"""How many GPUs a run takes: what the command writes, how it ends, and what it refuses.

Usage: size_test.py <plan>
"""
import json
import signal
import subprocess
import time
import xml.dom.minidom

import command
from command import Command, run

WORDS = ["size", "--model", "llama-3-8b", "--machine", "dgx-h100", "--seq-len", 4096, "--global-batch", 256, "--tokens", "1T"]
COUNTS = ["--gpus", "32,64,128"]


class Sizes(Command):
    def test_the_plan_of_the_least_gpus_is_written_and_read_back(self):
        plan, picture = self.folder / "plan.json", self.folder / "size.svg"
        done = run(*WORDS, *COUNTS, "--days", 30, "--scaling", "both", "--json", "--out", plan, "--picture", picture)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        least = answer["rows"][answer["least"]["row"]]
        written = json.loads(plan.read_text())
        for launchers_own in ("launch", "recipe"):
            self.assertTrue(written.pop(launchers_own))
        self.assertEqual(written, least["plan"])
        self.assertLessEqual(least["run"]["days"]["expected"], 30)
        smaller = [row for row in answer["rows"] if row["scaling"] == "strong" and row["devices"] < least["devices"]]
        for row in smaller:
            self.assertGreater(row["run"]["days"]["expected"], 30)
        self.assertEqual(run("estimate", "--plan", plan).returncode, 0)
        words = xml.dom.minidom.parseString(picture.read_bytes()).documentElement.toxml()
        for text in ("32 GPUs", "128 GPUs", "weak scaling", "limit", "days", "dollars"):
            self.assertIn(text, words)

    def test_the_answer_does_not_depend_on_threads(self):
        self.assertEqual(len({run(*WORDS, *COUNTS, "--json", "--threads", n).stdout for n in (1, 3)}), 1)

    def test_no_within_the_limits_is_an_answer(self):
        done = run(*WORDS, *COUNTS, "--days", 30, "--budget", 1000)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("No number of GPUs here is within 30.0 days and $1 000; nearest: ", done.stdout)

    def test_more_power_and_a_dearer_hour_are_billed_in_proportion(self):
        def figures(*more):
            return json.loads(run(*WORDS, "--gpus", 32, *more, "--json").stdout)["rows"][0]["run"]
        one = figures("--price", 1, "--pue", 1, "--grid", 100)
        two = figures("--price", 2, "--pue", 2, "--grid", 50)
        self.assertAlmostEqual(two["dollars"] / one["dollars"], 2)
        self.assertAlmostEqual(two["energy_kwh"] / one["energy_kwh"], 2)
        self.assertAlmostEqual(two["co2_kg"] / one["co2_kg"], 1)
        self.assertAlmostEqual(one["dollars"], one["gpu_hours"])

    def test_mistakes(self):
        self.refused(WORDS[:-2], "--tokens: is missing", "such as 15T")
        for flag, value, *says in (("--days", "-3", "--days"), ("--days", "soon", "--days"), ("--budget", "0", "--budget"),
                                   ("--price", "-1", "--price"), ("--pue", "0.9", "--pue"), ("--grid", "1e9", "--grid"),
                                   ("--scaling", "stong", "nearest: strong"), ("--gpus", "8,,16", "an empty part"),
                                   ("--gpus", "12,64", "12 is not a whole number of nodes", "nearest: 8, 16"),
                                   ("--gpus", "0", "--gpus"), ("--fix", "tpp=2", "nearest: tp, pp")):
            with self.subTest(flag=flag, value=value):
                self.refused([*WORDS, flag, value], *says)
        self.refused([*WORDS[:-4], "--global-batch", 255, *WORDS[-2:], "--gpus", "32,48", "--scaling", "weak"],
                     "--scaling weak: a global batch of 255 on 32 GPUs")

    def test_it_ends_when_asked_with_the_rows_so_far(self):
        words = [command.PLAN, "size", "--model", "llama-3.1-405b", "--machine", "dgx-h100", "--seq-len", "8192", "--global-batch",
                 "2048", "--tokens", "1T", "--gpus", "1024,2048,4096,8192", "--threads", "1", "--json"]
        limited = subprocess.run([*words, "--time-limit", "1ms"], text=True, capture_output=True, timeout=120)
        self.assertEqual(limited.returncode, 0, limited.stderr)
        self.assertFalse(json.loads(limited.stdout)["complete"])
        process = subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=120)
        if process.returncode == -signal.SIGINT:
            return  # it had not begun
        self.assertEqual(process.returncode, 0, error)
        self.assertEqual(json.loads(out)["format"], "plumbline.size/1")


if __name__ == "__main__":
    command.main()
