#!/usr/bin/env python3
"""Files that verbs write: whole or not at all, in the place that was named, and refused before the work.

Usage: output_files_test.py <plan>
"""
import json
import os
import re
import stat
import subprocess
import time

import command
from command import QUESTION, run

ESTIMATE = ["estimate", *QUESTION, "--tp", 2]
SECONDS_TO_REFUSE = 10  # of a verb whose work takes minutes


def flags_of(verb, *kinds):
    """The flags of a verb that name a file or a folder, as its help has them."""
    text = run(verb, "--help").stdout
    return [match[1] for match in re.finditer(r"^  (--[a-z-]+) (\S+)", text, re.M) if match[2] in kinds]


def verbs():
    return re.findall(r"^  ([a-z]+) ", run("--help").stdout, re.M)


class OutputFiles(command.Command):
    def done(self, *words, **more):
        done = run(*words, cwd=self.folder, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_an_empty_name_is_bad_input_for_every_flag_of_every_verb(self):
        seen = []
        for verb in verbs():
            for flag in flags_of(verb, "FILE", "DIR", "PATH"):
                with self.subTest(verb=verb, flag=flag):
                    self.refused([verb, flag, ""], f"{flag}: its value is empty")
                    seen.append(flag)
        for flag in ("--out", "--record", "--trace", "--picture", "--report", "--plot", "--resume", "--checkpoint",
                     "--plan", "--data", "--kernels-out", "--schedule-csv"):
            self.assertIn(flag, seen)

    def test_what_stands_beside_the_file_is_left_alone(self):
        own = self.written("plan.json.tmp", "my own")
        victim = self.written("victim", "another's")
        (self.folder / "res.json.tmp").symlink_to(victim)
        self.done(*ESTIMATE, "--out", "plan.json")
        self.done(*ESTIMATE, "--out", "res.json")
        self.assertEqual(own.read_text(), "my own")
        self.assertEqual(victim.read_text(), "another's")
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["plan.json", "plan.json.tmp", "res.json", "res.json.tmp", "victim"])

    def test_modes_links_and_devices_are_kept(self):
        kept = self.written("kept.json", "old")
        kept.chmod(0o604)
        (self.folder / "link").symlink_to("kept.json")
        self.done(*ESTIMATE, "--out", "link")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual(json.loads(kept.read_text())["format"], "plumbline.plan/1")
        self.assertEqual(stat.S_IMODE(kept.stat().st_mode), 0o604)
        self.done("simulate", "--plan", "kept.json", "--trace", "/dev/null", "--picture", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        if os.geteuid() == 0:  # a null device that may be lost
            device = self.folder / "null"
            try:
                os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            except OSError:
                return
            self.done(*ESTIMATE, "--out", device)
            self.assertTrue(stat.S_ISCHR(device.stat().st_mode))

    def test_a_pipe_is_written_into(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
        self.done(*ESTIMATE, "--out", pipe)
        text, _ = reader.communicate(timeout=60)
        self.assertEqual(json.loads(text)["format"], "plumbline.plan/1")
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))

    def test_a_dash_is_standard_output_and_the_file_is_alone_there(self):
        done = self.done(*ESTIMATE, "--out", "-")
        self.assertEqual(json.loads(done.stdout)["format"], "plumbline.plan/1")
        self.assertIn("throughput", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])
        self.refused([*ESTIMATE, "--out", "-", "--json"], '--out: "-" cannot be combined with --json')
        self.refused(["simulate", *QUESTION, "--trace", "-", "--picture", "-"], "--picture", "the file of --trace")
        self.refused(["simulate", *QUESTION, "--trace", "t", "--picture", "./t"], "--picture", "the file of --trace")

    def test_a_file_on_standard_output_comes_behind_what_is_there(self):
        with (self.folder / "log").open("w") as log:
            log.write("before\n")
            log.flush()
            done = subprocess.run([command.PLAN, *map(str, ESTIMATE), "--out", "/dev/stdout"], stdout=log,
                                  stderr=subprocess.PIPE, text=True, cwd=self.folder, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "log").read_text()
        self.assertTrue(text.startswith('before\n{\n  "format": "plumbline.plan/1"'), text[:200])

    def test_an_output_that_is_an_input_is_refused(self):
        plan = self.plan_file()
        machine = self.written("m.json", run("machines", "dgx-h100", "--json").stdout)
        script = self.written("train.sh", "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 384 "
                              "--num-attention-heads 6 --seq-length 512 --micro-batch-size 2 --global-batch-size 32\n")
        rows = self.written("r.json", "{}")
        (self.folder / "link.json").symlink_to(plan)
        question = ["--model", "gpt2", "--gpus", 8, "--global-batch", 8]
        for words, flag, file in ((["run", "--plan", plan, "--record"], "--record", plan),
                                  (["run", "--plan", plan, "--record"], "--record", self.folder / "link.json"),
                                  (["simulate", "--plan", plan, "--trace"], "--trace", plan),
                                  (["explain", "--plan", plan, "--out"], "--out", plan),
                                  (["import", script, "--from", "megatron-lm", "--machine", "dgx-h100", "--out"], "--out", script),
                                  (["calibrate", "--rows", rows, "--out"], "--out", rows),
                                  (["estimate", *question, "--machine", machine, "--out"], "--out", machine)):
            before = file.read_text()
            self.refused([*words, file], f'{flag}: "{file}" is read by this command', "or --force to replace it")
            self.assertEqual(file.read_text(), before)
        self.done("explain", "--plan", plan, "--out", plan, "--force")

    def test_a_plan_is_read_from_any_folder(self):
        machine = self.folder / "nets/m.json"
        machine.parent.mkdir()
        machine.write_text(run("machines", "dgx-h100", "--json").stdout)
        model = {"model_type": "gpt2", "n_layer": 3, "n_embd": 96, "n_head": 6, "vocab_size": 100, "n_positions": 128}
        (self.folder / "nets/own.json").write_text(json.dumps(model))
        (self.folder / "plans").mkdir()
        self.done("estimate", "--model", "nets/own.json", "--machine", "nets/m.json", "--gpus", 8, "--global-batch", 8,
                  "--out", "plans/p.json")
        written = json.loads((self.folder / "plans/p.json").read_text())
        self.assertEqual(written["machine"]["source"], "../nets/m.json")
        for folder, name in (("plans", "p.json"), ("nets", "../plans/p.json"), (".", "plans/p.json")):
            done = run("estimate", "--plan", name, "--json", cwd=self.folder / folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["prediction"], written["prediction"])

    def test_impossible_places_are_refused_before_the_work(self):
        (self.folder / "folder").mkdir()
        for words in (["calibrate", "--all"], ["calibrate", "--backend", "cpu"], ["search", *QUESTION]):
            begin = time.monotonic()
            self.refused([*words, "--out", "/proc/no/such"], "/proc/no", code=2 if "--all" not in words else 3)
            self.refused([*words, "--out", "/proc/none"], "/proc/none", code=3)
            self.assertLess(time.monotonic() - begin, SECONDS_TO_REFUSE)
        self.refused([*ESTIMATE, "--out", "folder"], '--out: "folder" is a folder')
        self.refused(["validate", "--report", "none/r.md"], "--report: there is no folder none")
        self.refused(["validate", "--plot", "folder"], '--plot: "folder" is a folder')
        self.refused(["man", "--out", "folder"], '--out: "folder" is a folder')

    def test_a_working_directory_that_is_gone_is_said(self):
        plan = self.plan_file()
        gone = self.folder / "gone"
        for words in (["estimate", *QUESTION, "--out", "x.json"], ["run", "--plan", plan, "--record", "r.json"]):
            gone.mkdir()
            script = ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', gone, command.PLAN, *map(str, words)]
            done = subprocess.run(script, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, r"^plan: \w\.json: the working directory cannot be found: .*\n$")

    def test_two_writers_of_one_file_never_break_it(self):
        rounds = 100
        path = self.folder / "both.json"
        loop = f'for i in $(seq {rounds}); do "$@" || exit 1; done'
        writers = [subprocess.Popen(["sh", "-c", loop, "sh", command.PLAN, *map(str, ESTIMATE), "--micro-batch", size,
                                     "--out", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for size in ("1", "2")]
        read = 0
        while any(writer.poll() is None for writer in writers):
            if path.exists():
                self.assertIn(json.loads(path.read_text())["strategy"]["micro_batch"], (1, 2))
                read += 1
            time.sleep(0.001)
        self.assertEqual([writer.returncode for writer in writers], [0, 0])
        self.assertGreater(read, 10)
        self.assertEqual(os.listdir(self.folder), ["both.json"])


if __name__ == "__main__":
    command.main()
