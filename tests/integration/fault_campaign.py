#!/usr/bin/env python3
"""Runs that are killed, stopped, signalled, starved of disk or fed with a damaged byte: random faults, counted by how they
ended. Whatever happens, a run says in one line what became of it, never leaves half a file, and goes on from its last
checkpoint to the very bytes of a run that nobody disturbed.

Usage: fault_campaign.py <plan> [<mpirun>] [--rounds N] [--seed S]
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "runtime" / "mpi"))

import command
from mpi_launch import launcher
from training import TINY, latest_step

STEPS = 12
STRATEGIES = [["--dp", 4, "--zero", 3], ["--dp", 2, "--pp", 2, "--zero", 1], ["--tp", 4], ["--pp", 4],
              ["--cp", 2, "--tp", 2], ["--dp", 2, "--tp", 2, "--zero", 2]]
SCHEDULE = ["--schedule-steps", STEPS, "--warmup-steps", 1]
LONGEST_RUN_S = 300  # of a disturbed run; one that takes longer hangs
DEADLINE_S = 25      # that a rank waits for another one
CODES = {0: "done", 1: "a difference, or mpirun's own code", 2: "refused", 3: "failed, said", 130: "stopped by SIGINT", 143: "stopped by SIGTERM",
         -9: "killed", -2: "ended by SIGINT", -15: "ended by SIGTERM", 137: "killed"}


def processes_under(pid):
    """All that a process started, and what those started."""
    children = collections.defaultdict(list)
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                children[int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])].append(int(entry.name))
            except (OSError, ValueError):
                continue
    found, to_see = [], [pid]
    while to_see:
        below = children[to_see.pop()]
        found += below
        to_see += below
    return found


class Broken(Exception):
    """What a run may never do."""


class Campaign:
    def __init__(self, folder, mpirun, seed):
        self.folder = folder
        self.mpirun = mpirun
        self.chance = random.Random(seed)
        self.counts = collections.Counter()
        self.broken = []
        self.runs = []
        (folder / "tiny.json").write_text(json.dumps(TINY))
        tokens = self.chance.choices(range(256), k=20_000)
        (folder / "data.u16").write_bytes(b"".join(token.to_bytes(2, "little") for token in tokens))
        for number, strategy in enumerate(STRATEGIES):
            self.runs.append(self.undisturbed(folder / f"run{number}", strategy))

    def undisturbed(self, folder, strategy):
        folder.mkdir()
        made = command.run("estimate", "--model", self.folder / "tiny.json", "--machine", "this-computer", "--gpus", 4,
                           "--seq-len", 32, "--global-batch", 8, "--precision", "fp32", *strategy, "--out",
                           folder / "plan.json")
        assert made.returncode == 0, made.stderr
        whole = self.ended(self.words(folder, folder / "whole", 0, False))
        assert whole[0] == 0, whole[1]
        return folder

    def words(self, folder, state, begun, is_mpi, plan=None, data=None, record=None):
        words = [*launcher(self.mpirun), "-n", "4"] if is_mpi else []
        words += [command.PLAN, "run", "--plan", plan or folder / "plan.json", "--steps", STEPS - begun, *SCHEDULE, "--data",
                  data or self.folder / "data.u16", "--data-format", "u16", "--checkpoint", state, "--checkpoint-every", 2]
        words += ["--ranks", "mpi"] if is_mpi else []
        words += ["--resume", state] if begun else []
        words += ["--record", record] if record else []
        return list(map(str, words))

    def ended(self, words, disturb=None, limit=None):
        """Exit code and standard error of a run that `disturb(process)` disturbs."""
        if limit:
            words = ["sh", "-c", f'ulimit -f {limit}; exec "$@"', "sh", *words]
        job = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            if disturb:
                disturb(job)
            _, text = job.communicate(timeout=LONGEST_RUN_S)
        except subprocess.TimeoutExpired:
            raise Broken("hangs") from None
        finally:
            for process in processes_under(job.pid) + [job.pid]:
                if job.poll() is None:
                    os.kill(process, signal.SIGKILL)
        return job.returncode, text

    def check_words(self, code, text, may_be_silent):
        said = [line for line in text.splitlines() if line.startswith("plan: ")]
        if code not in CODES:
            raise Broken(f"exit code {code}: {text[-500:]}")
        if len(said) > 1 or (not said and code not in (0, 1) and not may_be_silent):
            raise Broken(f"exit code {code} and {len(said)} lines: {text[-500:]}")

    def goes_on(self, folder, state):
        """Whatever was left behind, the run ends with the bytes of the undisturbed one."""
        begun = latest_step(state)
        if begun < STEPS:
            code, text = self.ended(self.words(folder, state, begun, False))
            if code != 0:
                raise Broken(f"does not go on from step {begun}: {text}")
        last = f"step-{STEPS:08}"
        for file in sorted((folder / "whole" / last).iterdir()):
            if (state / last / file.name).read_bytes() != file.read_bytes():
                raise Broken(f"goes on from step {begun} to another {file.name}")

    def moment(self):
        return self.chance.choice([self.chance.uniform(0, 0.05), self.chance.uniform(0, 1), self.chance.uniform(0, 3)])

    # Each fault: its words for the table, and (exit code, whether silence is allowed) of one run.

    def kill(self, folder, state, is_mpi):
        def disturb(job):
            time.sleep(self.moment())
            processes = processes_under(job.pid) if is_mpi else [job.pid]
            if processes and job.poll() is None:
                try:
                    os.kill(self.chance.choice(processes), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        # mpirun says itself that a watching process was killed.
        return *self.ended(self.words(folder, state, 0, is_mpi), disturb), True

    def ask(self, folder, state, is_mpi):
        def disturb(job):
            time.sleep(self.moment())
            job.send_signal(self.chance.choice([signal.SIGINT, signal.SIGTERM]))
        return *self.ended(self.words(folder, state, 0, is_mpi), disturb), is_mpi

    def stop(self, folder, state, is_mpi):
        def disturb(job):
            time.sleep(self.moment())
            processes = processes_under(job.pid) if is_mpi else [job.pid]
            if not processes or job.poll() is not None:
                return
            process = self.chance.choice(processes)
            try:
                os.kill(process, signal.SIGSTOP)
                time.sleep(DEADLINE_S + 5 if is_mpi and self.chance.random() < 0.1 else self.chance.uniform(0, 2))
                os.kill(process, signal.SIGCONT)
            except ProcessLookupError:
                pass
        return *self.ended(self.words(folder, state, 0, is_mpi), disturb), False

    def starve(self, folder, state, is_mpi):
        # Blocks of 512 bytes; MPI's own files need 16 MB, more than these checkpoints have.
        limit = self.chance.randrange(1, 600)
        record = state.parent / "record.json"
        code, text = self.ended(self.words(folder, state, 0, False, record=record), limit=limit)
        if record.exists():
            json.loads(record.read_text())
        if code == 3 and "File too large" not in text:
            raise Broken(f"a full disk is not said: {text}")
        return code, text, False

    def damaged(self, path):
        """Changes one byte; says what it was before."""
        content = bytearray(path.read_bytes())
        at = self.chance.randrange(len(content))
        content[at] ^= 1 << self.chance.randrange(8)
        path.write_bytes(content)
        return at

    def damage_plan(self, folder, state, is_mpi):
        plan = shutil.copy(folder / "plan.json", state.parent / "plan.json")
        self.damaged(pathlib.Path(plan))
        result = self.ended(self.words(folder, state, 0, False, plan=plan))
        shutil.rmtree(state, ignore_errors=True)  # of another plan, perhaps
        return *result, False

    def damage_data(self, folder, state, is_mpi):
        data = shutil.copy(self.folder / "data.u16", state.parent / "data.u16")
        self.damaged(pathlib.Path(data))
        result = self.ended(self.words(folder, state, 0, False, data=data))
        shutil.rmtree(state, ignore_errors=True)  # trained on other tokens
        return *result, False

    def damage_record(self, folder, state, is_mpi):
        record = state.parent / "record.json"
        code, text = self.ended(self.words(folder, state, 0, False, record=record))
        if code != 0:
            raise Broken(text)
        self.damaged(record)
        done = command.run("compare", "--plan", folder / "plan.json", "--measured", record)
        return done.returncode, done.stderr, False

    def damage_checkpoint(self, folder, state, is_mpi):
        shutil.copytree(folder / "whole", state)
        step = state / "step-00000006"
        for later in state.iterdir():
            if later.name > step.name:
                shutil.rmtree(later)
        at = self.chance.choice(sorted(step.iterdir()))
        self.damaged(at)
        result = self.ended(self.words(folder, state, 6, False))
        if result[0] == 0:  # nothing was noticed: then nothing may have been changed
            self.goes_on(folder, state)
        shutil.rmtree(step, ignore_errors=True)
        return *result, False

    def round(self, fault, is_mpi):
        folder = self.chance.choice(self.runs)
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            state = pathlib.Path(place) / "state"
            code, text, may_be_silent = fault(folder, state, is_mpi)
            self.check_words(code, text, may_be_silent)
            self.goes_on(folder, state)
        self.counts[(fault.__name__, "mpi" if is_mpi else "local", CODES[code])] += 1

    def one(self, kind, number):
        fault, is_mpi = kind
        try:
            self.round(fault, is_mpi)
        except (Broken, ValueError, OSError) as error:
            self.broken.append(number)
            print(f"BROKEN round {number}, {fault.__name__} {'over MPI' if is_mpi else 'local'}: {error}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plan")
    parser.add_argument("mpirun", nargs="?", default="")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    command.PLAN = str(pathlib.Path(asked.plan).resolve())
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(pathlib.Path(folder), asked.mpirun, asked.seed)
        faults = [(fault, False) for fault in (campaign.kill, campaign.ask, campaign.stop, campaign.starve,
                                               campaign.damage_plan, campaign.damage_data, campaign.damage_record,
                                               campaign.damage_checkpoint)]
        if asked.mpirun:
            faults += [(fault, True) for fault in (campaign.kill, campaign.ask, campaign.stop)]
        try:
            for number in range(asked.rounds):
                campaign.one(faults[number % len(faults)], number)
        except KeyboardInterrupt:
            print("interrupted; until then:")
    rounds = sum(campaign.counts.values()) + len(campaign.broken)
    print(f"{rounds} faults with seed {asked.seed}: {len(campaign.broken)} broke a promise")
    for (fault, ranks, outcome), count in sorted(campaign.counts.items()):
        print(f"  {fault.replace('_', ' '):18} {ranks:6} {outcome:36} {count:6}")
    sys.exit(1 if campaign.broken else 0)


if __name__ == "__main__":
    main()
