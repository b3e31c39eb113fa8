#!/usr/bin/env python3
"""plan run when something fails: killed at any moment, a full disk, checkpoints that are not this run's.

Usage: faults_test.py <plan>
"""
import fcntl
import json
import random
import re
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
        self.assertEqual([step for step, _, _ in losses(going_on.stdout)], [2])
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
        limited = ["sh", "-c", "ulimit -f 100; exec \"$@\"", "sh", command.PLAN, *words]  # 51 200 bytes
        done = subprocess.run(limited, capture_output=True, text=True, timeout=100, cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        line = self.one_line(done.stderr, "writing the checkpoint of step 3: ", "safetensors: cannot be written: File")
        self.assertRegex(line, r"rank (\d) \(stage \1\) ")
        self.assertEqual(latest_step(self.folder / "state"), 1)
        self.trained(plan, "--steps", 1, "--resume", "state")

    def asked_to_stop(self, plan, number, *words, again=0):
        """A run that gets a signal behind its first step, and as many more as are wanted half a second apart."""
        job = subprocess.Popen([command.PLAN, "run", "--plan", plan, "--steps", "1000000", "--json", *words],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        first = job.stdout.readline()
        for _ in range(1 + again):
            job.send_signal(number)
            time.sleep(0.5 if again else 0)
        lines, text = job.communicate(timeout=100)
        return job.returncode, losses(first + lines), text

    def test_a_run_that_is_asked_to_stop_saves_what_it_has(self):
        plan = self.plan_of("--dp", 2, "--pp", 2, "--zero", 1)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            state = f"state{code}"
            done, steps, text = self.asked_to_stop(plan, number, "--checkpoint", state, "--record", "r.json", "--trace",
                                                   "t.json", "--schedule-steps", "40", "--warmup-steps", "2")
            self.assertEqual(done, code, text)
            last = steps[-1][0]
            self.assertEqual(text, f"plan: {number.name}: stopped after step {last}; saved: checkpoint {state}/"
                                   f"step-{last:08}, record r.json, trace t.json\n")
            record = json.loads((self.folder / "r.json").read_text())
            self.assertEqual([step["step"] for step in record["steps"]], [step for step, _, _ in steps])
            json.loads((self.folder / "t.json").read_text())
            schedule = ["--schedule-steps", 40, "--warmup-steps", 2, "--checkpoint", f"whole{code}"]
            self.trained(plan, "--steps", last, *schedule)
            self.same_files(f"whole{code}/step-{last:08}", f"{state}/step-{last:08}")

    def test_a_run_that_saves_nothing_says_so_when_it_is_stopped(self):
        code, steps, text = self.asked_to_stop(self.plan_of("--tp", 4), signal.SIGTERM)
        self.assertEqual(code, 143, text)
        self.assertEqual(text, f"plan: SIGTERM: stopped after step {steps[-1][0]}; nothing is saved: there is neither "
                               "--checkpoint nor --record\n")

    def test_a_run_does_not_wait_for_whoever_reads_its_steps(self):
        plan = self.plan_of("--dp", 2, gpus=2)
        job = subprocess.Popen([command.PLAN, "run", "--plan", plan, "--steps", "100000", "--json", "--checkpoint",
                                "state", "--checkpoint-every", "20"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, cwd=self.folder)
        fcntl.fcntl(job.stdout, fcntl.F_SETPIPE_SZ, 4096)  # ten lines fill it
        latest = time.monotonic() + 100
        while latest_step(self.folder / "state") < 40 and job.poll() is None and time.monotonic() < latest:
            time.sleep(0.1)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(timeout=100), 143)
        lines, text = job.communicate(timeout=100)
        self.one_line(text, "plan: SIGTERM: stopped after step ", "saved: checkpoint state/step-",
                      "; nobody read the last ")
        read, unread = len(losses(lines)), int(re.search(r"the last (\d+) lines", text)[1])
        self.assertGreater(unread, 10)
        self.assertEqual(latest_step(self.folder / "state"), read + unread)

    def test_steps_that_nobody_can_be_told_end_a_run(self):
        plan = self.plan_of("--dp", 2, gpus=2)
        with open("/dev/full", "w") as full:
            done = subprocess.run([command.PLAN, "run", "--plan", plan, "--steps", "1000000", "--json"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.one_line(done.stderr, "standard output: cannot be written: No space left on device")

    def test_a_second_signal_ends_a_run_at_once(self):
        # A step of minutes, so that the first one has no chance to end it.
        plan = self.plan_of("--dp", 2, gpus=2, batch=4096, sequence=128)
        job = subprocess.Popen([command.PLAN, "run", "--plan", plan, "--steps", "10"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        begin = time.monotonic()
        for _ in range(2):
            job.send_signal(signal.SIGINT)
            time.sleep(0.5)
        _, text = job.communicate(timeout=100)
        self.assertEqual((job.returncode, text), (130, "plan: a second signal: ended at once\n"))
        self.assertLess(time.monotonic() - begin, 5)

    def test_a_signal_is_said_whenever_it_comes(self):
        plan, chance = self.plan_of("--tp", 2, gpus=2), random.Random(7)
        for _ in range(20):
            job = subprocess.Popen([command.PLAN, "run", "--plan", plan, "--steps", "1000000"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(chance.uniform(0.02, 0.1))  # before that it is the loader's
            job.send_signal(signal.SIGTERM)
            _, text = job.communicate(timeout=100)
            if job.returncode == -signal.SIGTERM and not text:
                continue  # the loader had not ended
            self.assertIn(job.returncode, (-signal.SIGTERM, 143), text)
            self.one_line(text, "SIGTERM")

    def test_a_limit_of_file_sizes_is_a_full_disk(self):
        plan = self.plan_of("--pp", 4)
        limited = ["sh", "-c", "ulimit -f 1; exec \"$@\"", "sh", command.PLAN, "run", "--plan", str(plan)]
        for words, name in ((["--checkpoint", "state"], "state/step-00000002"), (["--record", "r.json"], "r.json")):
            done = subprocess.run([*limited, "--steps", "2", *words], capture_output=True, text=True, timeout=100,
                                  cwd=self.folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.one_line(done.stderr, name, "cannot be written: File too large")
        self.assertFalse((self.folder / "r.json").exists())

    def test_data_are_not_held_in_memory(self):
        plan = self.plan_of("--dp", 4)
        data = self.folder / "data.txt"
        with data.open("wb") as file:
            for _ in range(300):
                file.write(b"To be, or not to be, that is the question:\n" * (1_000_000 // 43))
        script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        done = subprocess.run(["python3", "-c", script, command.PLAN, "run", "--plan", plan, "--steps", "2", "--data", data],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(int(done.stdout), 200_000)  # KiB; the file alone has 293 000

    def test_data_that_are_shortened_during_a_run_end_it_with_a_line(self):
        plan = self.plan_of("--dp", 4)
        data = self.written("data.txt", "abcdefgh" * 100_000)
        job = subprocess.Popen([command.PLAN, "run", "--plan", plan, "--steps", "1000000", "--json", "--data", data],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        job.stdout.readline()
        data.write_text("abcdefgh" * 10)
        _, text = job.communicate(timeout=100)
        self.assertEqual(job.returncode, 3, text)
        self.one_line(text, "data.txt: was shortened while it was read: it had 800000 bytes")

    def test_checkpoints_that_do_not_fit_are_refused_before_any_work(self):
        plan = self.plan_of("--tp", 4)
        self.trained(plan, "--steps", 2, "--checkpoint", "state")
        step = self.folder / "state" / "step-00000002"

        def copy(name):
            return shutil.copytree(step, self.folder / name / step.name)

        cut = copy("cut") / "model.safetensors"
        cut.write_bytes(cut.read_bytes()[:-1])
        (copy("lost") / "optimizer.safetensors").unlink()
        (copy("torn") / "manifest.json").write_text("{")
        words = ["run", "--plan", plan, "--json"]
        self.refused([*words, "--resume", "nowhere"], "nowhere")
        self.refused([*words, "--resume", "cut"], "model.safetensors")
        self.refused([*words, "--resume", "lost"], "optimizer.safetensors")
        self.refused([*words, "--resume", "torn"], "manifest.json")
        self.refused([*words, "--steps", 2, "--checkpoint", "state"], "step-00000002: is there already")
        self.written("file", "")
        self.refused([*words, "--checkpoint", "file/state"], "file/state", code=3)
        other = self.plan_of("--dp", 4, model={"hidden_size": 64})
        self.refused(["run", "--plan", other, "--resume", "state"], "was trained with model ")


if __name__ == "__main__":
    command.main()
