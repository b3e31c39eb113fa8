#!/usr/bin/env python3
"""plan run --ranks mpi on four processes: the bits of local ranks, and every fault. Exits with 77 where MPI is absent.

Usage: mpi_run_test.py <plan, or empty> <mpirun>
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "runtime" / "mpi"))

import command
from command import run
from mpi_launch import launcher, skip_without
from training import Training, facts, latest_step, losses

MPIRUN = ""
SECONDS_TO_END = 30  # issue 5: a fault ends the run within them
STRATEGIES = [["--dp", 4], ["--dp", 4, "--zero", 3], ["--tp", 4, "--sequence-parallel", "on"],
              ["--pp", 4, "--schedule", "interleaved", "--virtual-stages", 2], ["--cp", 4],
              ["--tp", 2, "--pp", 2, "--schedule", "zb-h1"], ["--dp", 2, "--cp", 2, "--zero", 1]]


def words(plan, *more, processes=4):
    return [*launcher(MPIRUN), "-n", str(processes), command.PLAN, "run", "--plan", str(plan), "--ranks", "mpi",
            *map(str, more)]


def processes_of(rank, job):
    """Of the job that `job` started, those of one rank: the one that watches, then the one that works."""
    children, environments = {}, {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) if entry.name.isdigit() else None
            environments[entry.name] = (entry / "environ").read_bytes().split(b"\0") if parent else []
        except (OSError, ValueError):
            continue
        children.setdefault(parent, []).append(int(entry.name) if parent else 0)
    here = f"OMPI_COMM_WORLD_RANK={rank}".encode()
    for watcher in children.get(job.pid, []):
        if here in environments[str(watcher)]:
            return [watcher, *children.get(watcher, [])]
    return []


def has_processes(job):
    """Whether any that the job started is running."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2] if entry.name.isdigit() else ("Z", "0")
        except OSError:
            continue
        if int(parent) == job.pid and state != "Z":
            return True
    return False


def end_of(job):
    """The launcher's exit status and what was said. No status where the launcher stays although all that it started has ended: Open
    MPI 4.1.4 with PMIx 4.2 now and then waits for itself in PMIx_server_finalize when a process was killed as it started or ended."""
    for _ in range(15):
        try:
            _, text = job.communicate(timeout=10)
            return job.returncode, text
        except subprocess.TimeoutExpired:
            if not has_processes(job):
                job.kill()
                return None, job.communicate()[1]
    raise AssertionError("the job does not end")


class MpiRun(Training):
    def over_mpi(self, plan, *more, processes=4):
        begin = time.monotonic()
        done = subprocess.run(words(plan, *more, processes=processes), capture_output=True, text=True, timeout=120,
                              cwd=self.folder)
        return done, time.monotonic() - begin

    def test_bits_files_and_records_are_those_of_local_ranks(self):
        for number, strategy in enumerate(STRATEGIES):
            with self.subTest(strategy=strategy):
                plan = self.plan_of(*strategy, precision="bf16" if "--tp" in strategy else "fp32")
                local, mpi = self.folder / f"local{number}", self.folder / f"mpi{number}"
                more = ["--steps", 4, "--checkpoint-every", 3, "--json"]
                one = run("run", "--plan", plan, *more, "--checkpoint", local, "--record", self.folder / "l.json")
                self.assertEqual(one.returncode, 0, one.stderr)
                other, _ = self.over_mpi(plan, *more, "--checkpoint", mpi, "--record", "m.json")
                self.assertEqual(other.returncode, 0, other.stderr)
                self.assertEqual(len(losses(one.stdout)), 4)
                self.assertEqual(losses(one.stdout), losses(other.stdout))
                self.assertEqual(facts(self.folder / "l.json"), facts(self.folder / "m.json"))
                self.same_files(local, mpi)
                done = run("compare", "--plan", plan, "--measured", self.folder / "m.json")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_run_goes_on_over_the_other_kind_of_ranks(self):
        plan = self.plan_of("--dp", 2, "--pp", 2, "--zero", 1)
        schedule = ["--schedule-steps", 6, "--warmup-steps", 1, "--json"]
        whole = run("run", "--plan", plan, "--steps", 6, *schedule, "--checkpoint", self.folder / "whole")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        begun = run("run", "--plan", plan, "--steps", 2, *schedule, "--checkpoint", self.folder / "state")
        middle, _ = self.over_mpi(plan, "--steps", 2, *schedule, "--resume", "state", "--checkpoint", "state")
        last = run("run", "--plan", plan, "--steps", 2, *schedule, "--resume", self.folder / "state", "--checkpoint",
                   self.folder / "state")
        self.assertEqual((begun.returncode, middle.returncode, last.returncode), (0, 0, 0), middle.stderr)
        self.assertEqual(losses(whole.stdout), losses(begun.stdout + middle.stdout + last.stdout))
        self.same_files("whole/step-00000006", "state/step-00000006")

    def test_another_number_of_processes_is_refused_in_one_line(self):
        plan = self.plan_of("--tp", 4)
        for processes in (1, 3, 5):
            done, seconds = self.over_mpi(plan, processes=processes)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stdout, "")
            self.one_line(done.stderr, f"{processes} process", "expected 4", "mpirun -n 4")
            self.assertLess(seconds, SECONDS_TO_END)

    def test_mistakes_are_said_once_before_any_work(self):
        plan = self.plan_of("--tp", 4)
        done, _ = self.over_mpi(plan, "--steps", 1, "--checkpoint", "state")
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / "cut").mkdir()
        subprocess.run(["cp", "-r", self.folder / "state" / "step-00000001", self.folder / "cut"], check=True)
        shard = self.folder / "cut" / "step-00000001" / "optimizer.safetensors"
        shard.write_bytes(shard.read_bytes()[:-1])
        cases = [(["--steps", 0], "--steps"), (["--data", "absent.txt"], "absent.txt"),
                 (["--record", "no/folder/m.json"], "--record: there is no folder"),
                 (["--resume", "absent"], "absent"), (["--resume", "cut"], "optimizer.safetensors"),
                 (["--steps", 1, "--checkpoint", "state"], "step-00000001: is there already")]
        for more, says in cases:
            done, _ = self.over_mpi(plan, *more, "--json")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.one_line(done.stderr, says)
        other = self.plan_of("--dp", 4, model={"hidden_size": 64})
        done, _ = self.over_mpi(other, "--resume", "state")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.one_line(done.stderr, "was trained with model ")

    def ended_by(self, number, which, rank=2):
        """What a long run says when one process of a rank gets a signal in the middle of it."""
        plan = self.plan_of("--pp", 4)
        job = subprocess.Popen(words(plan, "--steps", 1_000_000, "--json"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, cwd=self.folder)
        try:
            for _ in range(5):
                self.assertTrue(job.stdout.readline())
            pair = processes_of(rank, job)
            self.assertEqual(len(pair), 2)
            os.kill(pair[which], number)
            begin = time.monotonic()
            _, text = job.communicate(timeout=150)
        finally:
            job.kill()
        self.assertLess(time.monotonic() - begin, SECONDS_TO_END)
        return job.returncode, text

    def test_a_killed_process_is_named_with_its_stage_and_action(self):
        for number in (signal.SIGKILL, signal.SIGSEGV):
            code, text = self.ended_by(number, which=1)
            self.assertEqual(code, 3, text)
            line = self.one_line(text, f"its process was ended by signal {int(number)}")
            self.assertRegex(line, r"^plan: rank 2 \(stage 2\) (at [a-z-]+|between two steps)")

    def test_a_killed_watcher_is_named_too(self):
        code, text = self.ended_by(signal.SIGKILL, which=0)
        self.assertNotEqual(code, 0, text)  # mpirun's own: it saw the signal
        self.assertRegex(self.one_line(text, "the process that watched over it was killed"), r"rank 2 \(stage 2\) ")

    def test_a_process_that_is_killed_at_once_is_named_too(self):
        plan, chance = self.plan_of("--dp", 4), random.Random(11)
        said = 0
        for _ in range(6):
            job = subprocess.Popen(words(plan, "--steps", 1_000_000, "--json"), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, cwd=self.folder)
            try:
                while len(pair := processes_of(1, job)) < 2:
                    time.sleep(0.001)
                time.sleep(chance.uniform(0, 0.05))
                os.kill(pair[1], signal.SIGKILL)
                code, text = end_of(job)
            finally:
                job.kill()
            self.assertIn(code, (3, None), text)
            self.assertRegex(self.one_line(text, "ended by signal 9"), r"^plan: rank 1 ")
            said += 1
        self.assertEqual(said, 6)

    def test_a_launcher_is_recognised_and_its_processes_are_one_run(self):
        plan = self.plan_of("--dp", 4)
        at_once = [*launcher(MPIRUN), "-n", "4", command.PLAN, "run", "--plan", plan, "--steps", "3", "--json"]
        done = subprocess.run(list(map(str, at_once)), capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        local = run("run", "--plan", plan, "--steps", 3, "--json")
        self.assertEqual(losses(done.stdout), losses(local.stdout))
        apart = subprocess.run(list(map(str, [*at_once, "--ranks", "local"])), capture_output=True, text=True, timeout=120)
        self.assertEqual(len(losses(apart.stdout)), 12, apart.stderr)

    def test_what_every_process_would_refuse_is_said_once(self):
        plan = self.plan_of("--dp", 4)
        for more, says in ((["--stepz", 3], "--stepz: unknown flag"), (["--record", ""], "--record: its value is empty"),
                           (["--backend", "gpu"], "--backend"), (["--backend", "cuda"], "processes of MPI")):
            done, _ = self.over_mpi(plan, *more)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.one_line(done.stderr, says)

    def test_a_job_of_torchrun_is_refused_once_and_others_may_use_its_variables(self):
        plan = self.plan_of("--tp", 2, gpus=2)
        begin = {**os.environ, "WORLD_SIZE": "2"}
        started = [subprocess.Popen([command.PLAN, "run", "--plan", str(plan), "--steps", "1"], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True,
                                    env={**begin, "RANK": rank, "LOCAL_RANK": rank}) for rank in ("0", "1")]
        texts = [job.communicate(timeout=60)[1] for job in started]
        self.assertEqual([job.returncode for job in started], [2, 2], texts)
        self.one_line("".join(texts), "torchrun started 2 processes", "expected mpirun or srun, or --ranks local")
        alone = run("run", "--plan", plan, "--steps", 1, env={**begin, "RANK": "7"})
        self.assertEqual(alone.returncode, 0, alone.stderr)

    def test_mpirun_that_is_asked_to_end_leaves_a_checkpoint_behind(self):
        # It waits for the time given here, sends SIGTERM, waits once more and kills; it forwards no words meanwhile, and
        # reads none: the steps fill the pipe of rank 0, which must not wait for it.
        plan = self.plan_of("--dp", 2, "--pp", 2, "--zero", 1)
        line = words(plan, "--steps", 1_000_000, "--json", "--checkpoint", "state")
        line[1:1] = ["--mca", "odls_base_sigkill_timeout", "15"]
        job = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.assertTrue(job.stdout.readline())
        job.send_signal(signal.SIGTERM)
        _, text = job.communicate(timeout=150)
        self.assertNotEqual(job.returncode, 0, text)
        self.assertGreater(latest_step(self.folder / "state"), 0)
        done = run("run", "--plan", plan, "--steps", 1, "--resume", self.folder / "state")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_a_watcher_hands_on_late_is_no_second_signal(self):
        # mpirun signals the process group of a rank: the one that works, and the one that watches and hands it on.
        plan = self.plan_of("--pp", 4)
        job = subprocess.Popen(words(plan, "--steps", 1_000_000, "--json", "--checkpoint", "state"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        try:
            self.assertTrue(job.stdout.readline())
            held, (watcher, worker) = processes_of(1, job)[1], processes_of(2, job)
            os.kill(held, signal.SIGSTOP)  # the step does not end before it goes on
            os.kill(worker, signal.SIGTERM)
            time.sleep(1)
            os.kill(watcher, signal.SIGTERM)
            time.sleep(1)
            os.kill(held, signal.SIGCONT)
            _, text = job.communicate(timeout=150)
        finally:
            job.kill()
        self.assertEqual(job.returncode, 143, text)
        self.one_line(text, "plan: SIGTERM: stopped after step ")
        self.assertGreater(latest_step(self.folder / "state"), 0)

    def test_one_rank_that_is_asked_stops_them_all(self):
        code, text = self.ended_by(signal.SIGTERM, which=0)
        self.assertEqual(code, 143, text)
        self.one_line(text, "plan: SIGTERM: stopped after step ")

    def test_a_stopped_process_is_named_with_its_stage_and_action(self):
        code, text = self.ended_by(signal.SIGSTOP, which=1)
        self.assertEqual(code, 3, text)
        line = self.one_line(text, "waited 25.0 s in ")
        self.assertRegex(line, r"^plan: rank \d \(stage \d\) at [a-z-]+")
        self.assertRegex(line, r"rank 2 \(stage 2\) (at [a-z-]+.* or behind it, )?without an answer")

    def test_a_rank_that_throws_is_named_once(self):
        # Files may have 16 MB, which is enough for MPI's own; 12 bytes for each of 2.2 million parameters are more.
        plan = self.plan_of("--dp", 4, model={"hidden_size": 128, "intermediate_size": 512})
        limited = ["sh", "-c", "ulimit -f 32000; exec \"$@\"", "sh"]
        command_line = words(plan, "--steps", 2, "--checkpoint", "state")
        at = command_line.index(command.PLAN)
        done = subprocess.run([*command_line[:at], *limited, *command_line[at:]], capture_output=True, text=True,
                              timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        line = self.one_line(done.stderr, "writing the checkpoint of step 2: ", "safetensors: cannot be written")
        self.assertRegex(line, r"^plan: rank \d \(stage 0\) ")
        self.assertEqual(done.stderr.strip(), line)  # OpenMPI adds nothing
        self.assertEqual(latest_step(self.folder / "state"), 0)

    def test_a_run_killed_at_any_moment_goes_on_bit_for_bit(self):
        plan = self.plan_of("--dp", 2, "--pp", 2, "--zero", 1)
        steps, chance = 24, random.Random(5)
        schedule = ["--schedule-steps", steps, "--warmup-steps", 2]
        whole = run("run", "--plan", plan, "--steps", steps, *schedule, "--checkpoint", self.folder / "whole")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        state, kills = self.folder / "state", 0
        while latest_step(state) < steps:
            begun = latest_step(state)
            resume = ["--resume", state] if begun else []
            job = subprocess.Popen(words(plan, "--steps", steps - begun, *schedule, *resume, "--checkpoint", state,
                                         "--checkpoint-every", 1), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True, cwd=self.folder)
            if kills < 4:
                while latest_step(state) <= begun and job.poll() is None:
                    time.sleep(0.005)
                time.sleep(chance.uniform(0, 0.2))
                worker = processes_of(chance.randrange(4), job)[1:]
                for process in worker:
                    os.kill(process, signal.SIGKILL)
                kills += 1
            code, text = end_of(job)
            self.assertIn(code, (0, 3, None), text)
        self.assertGreater(kills, 1)
        self.same_files(f"whole/step-{steps:08}", f"state/step-{steps:08}")


if __name__ == "__main__":
    MPIRUN = sys.argv.pop(2)
    skip_without(sys.argv[1], MPIRUN)
    command.main()
