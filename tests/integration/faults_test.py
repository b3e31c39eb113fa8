#!/usr/bin/env python3
"""plan run when something fails: killed at any moment, a full disk, checkpoints that are not this run's.

Usage: faults_test.py <plan>
"""
import random
import shutil
import signal
import subprocess
import time

import command
from command import run
from training import Training, latest_step, losses


class Faults(Training):
    def trained(self, plan, *words, **more):
        done = run("run", "--plan", plan, *words, cwd=self.folder, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_run_killed_at_any_moment_goes_on_bit_for_bit(self):
        plan = self.plan_of("--dp", 2, "--pp", 2, "--zero", 1)
        steps, chance = 40, random.Random(3)
        schedule = ["--schedule-steps", steps, "--warmup-steps", 2]
        self.trained(plan, "--steps", steps, *schedule, "--checkpoint", "whole")
        state, kills = self.folder / "state", 0
        while latest_step(state) < steps:
            begun = latest_step(state)
            resume = ["--resume", state] if begun else []
            words = ["run", "--plan", plan, "--steps", steps - begun, *schedule, *resume, "--checkpoint", state,
                     "--checkpoint-every", 1]
            job = subprocess.Popen([command.PLAN, *map(str, words)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
            if kills < 8:
                while latest_step(state) <= begun and job.poll() is None:
                    time.sleep(0.002)
                time.sleep(chance.uniform(0, 0.05))
                job.kill()
                kills += 1
            _, text = job.communicate(timeout=100)
            self.assertIn(job.returncode, (0, -signal.SIGKILL), text)
        self.assertGreater(kills, 2)
        self.same_files(f"whole/step-{steps:08}", f"state/step-{steps:08}")

    def test_what_was_killed_while_it_was_written_is_not_read(self):
        plan = self.plan_of("--tp", 4)
        self.trained(plan, "--steps", 1, "--checkpoint", "state")
        partial = self.folder / "state" / "step-00000002.partial"
        shutil.copytree(self.folder / "state" / "step-00000001", partial)
        (partial / "manifest.json").unlink()
        going_on = self.trained(plan, "--steps", 1, "--resume", "state", "--checkpoint", "state", "--json")
        self.assertEqual([step for step, _, _ in losses(going_on.stdout)], [1])
        self.assertFalse(partial.exists())
        self.assertEqual(latest_step(self.folder / "state"), 2)

    def test_a_disk_without_room_is_refused_before_any_work(self):
        # A checkpoint is 0.8 MB: a thousand million of them are 800 TB.
        plan = self.plan_of("--tp", 4)
        self.refused(["run", "--plan", plan, "--steps", 10**9, "--checkpoint", "state", "--checkpoint-every", 1,
                      "--json"], "state: has room for ", "1000000000 checkpoints of this run need ", code=3)

    def test_a_disk_that_fills_up_ends_the_run_and_leaves_the_last_checkpoint(self):
        plan = self.plan_of("--pp", 4)
        self.trained(plan, "--steps", 1, "--checkpoint", "state")
        words = ["run", "--plan", str(plan), "--steps", "2", "--resume", "state", "--checkpoint", "state"]
        limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 100; exec \"$@\"", "sh", command.PLAN, *words]  # 51 200 bytes
        done = subprocess.run(limited, capture_output=True, text=True, timeout=100, cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        line = self.one_line(done.stderr, "writing the checkpoint of step 3: ", "safetensors: cannot be written: File")
        self.assertRegex(line, r"rank (\d) \(stage \1\) ")
        self.assertEqual(latest_step(self.folder / "state"), 1)
        self.trained(plan, "--steps", 1, "--resume", "state")

    def test_checkpoints_that_do_not_fit_are_refused_before_any_work(self):
        plan = self.plan_of("--tp", 4)
        self.trained(plan, "--steps", 2, "--checkpoint", "state")
        step = self.folder / "state" / "step-00000002"

        def copy(name):
            return shutil.copytree(step, self.folder / name / step.name)

        cut = copy("cut") / "rank-00001.safetensors"
        cut.write_bytes(cut.read_bytes()[:-1])
        (copy("lost") / "rank-00003.safetensors").unlink()
        (copy("torn") / "manifest.json").write_text("{")
        words = ["run", "--plan", plan, "--json"]
        self.refused([*words, "--resume", "nowhere"], "nowhere")
        self.refused([*words, "--resume", "cut"], "rank-00001.safetensors")
        self.refused([*words, "--resume", "lost"], "rank-00003.safetensors")
        self.refused([*words, "--resume", "torn"], "manifest.json")
        self.refused([*words, "--steps", 2, "--checkpoint", "state"], "step-00000002: is there already")
        self.written("file", "")
        self.refused([*words, "--checkpoint", "file/state"], "file/state", code=3)
        other = self.plan_of("--dp", 4)
        self.refused(["run", "--plan", other, "--resume", "state"], "resume with the plan that wrote it")


if __name__ == "__main__":
    command.main()
