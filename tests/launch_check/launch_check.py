#!/usr/bin/env python3
"""Lets the frameworks themselves read the files of a hundred drawn plans for each launch target, and train with some.

Usage: launch_check.py <plan> ENVIRONMENTS [--only TARGET] [--write]

ENVIRONMENTS is a folder of virtual environments by name (setup_frameworks.sh makes them); a framework that is not there is said to
be missing. --write keeps the verdicts in verdicts.json, with the release of each framework and a digest of
the files of each plan: launch_verdicts_test.py compares what is written today with them, so that CI needs no framework.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import drawn_plans

HERE = pathlib.Path(__file__).resolve().parent
VERDICTS = HERE / "verdicts.json"
TRAINING = ["pytorch_training_test.py", "framework_training_test.py"]


def manifest(plan, name, folder, exports):
    places = [pathlib.Path(folder) / name / str(number) for number in range(len(exports))]
    return [{"folder": str(place), "expected": drawn_plans.expected(plan, name, place, one)} for place, one in zip(places, exports)]


def has_module(python, module):
    find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module.partition('.')[0]!r}) is None)"
    return python.exists() and subprocess.run([python, "-c", find], capture_output=True).returncode == 0


def judged(name, python, path):
    """{"release", "verdicts"} of one framework's environment."""
    program = HERE / f"accept_{name.replace('-', '_')}.py"
    done = subprocess.run([python, program, path], text=True, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"launch_check.py: {program.name} under {python} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().rsplit("\n", 1)[-1])


def say(name, result, exports):
    verdicts = result["verdicts"]
    print(f"{name} {result['release']}: {verdicts.count('accepted')} of {len(verdicts)} accepted")
    for number, verdict in enumerate(verdicts):
        if verdict != "accepted":
            print(f"  plan {number} ({exports[number]['plan']}): {verdict}")


def check_target(plan, name, folder, exports, environments):
    """What is kept of a target: releases to counts, and of each plan its words, digest and the newest release's verdict."""
    path = pathlib.Path(folder) / f"{name}.json"
    path.write_text(json.dumps(manifest(plan, name, folder, exports)), encoding="utf-8")
    kept = {"releases": {}, "plans": exports}
    target = drawn_plans.TARGETS[name]
    module = target.module or name
    for environment in target.environments:
        python = pathlib.Path(environments).resolve() / environment / "bin/python"
        if not has_module(python, module):
            print(f"{name}: not read: {python} has no {module}; setup_frameworks.sh installs it")
            continue
        result = judged(name, python, path)
        say(name, result, exports)
        kept["releases"][result["release"]] = {"accepted": result["verdicts"].count("accepted"), "of": len(exports)}
        kept["plans"] = [{**one, "verdict": verdict} for one, verdict in zip(exports, result["verdicts"])]
    if target.not_read:
        print(f"{name}: not read: {target.not_read}")
        kept["not_read"] = target.not_read
    return kept


def trained(plan, environments):
    """Runs the tests in which exported scripts train on the CPU beside `plan run`: {program: {"tests", "failed"}}."""
    python = pathlib.Path(environments).resolve() / "common/bin/python"
    kept = {}
    for name in TRAINING if has_module(python, "torch") else []:
        print(f"{name}: trains beside plan run ...", flush=True)
        done = subprocess.run([python, HERE.parent / "integration" / name, pathlib.Path(plan).resolve()], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
        count, failed = re.search(r"^Ran (\d+) tests", done.stderr, re.MULTILINE), re.findall(r"(?:failures|errors)=(\d+)", done.stderr)
        if count is None:
            raise SystemExit(f"launch_check.py: {name} ended with {done.returncode}:\n{done.stdout[-500:]}{done.stderr[-2000:]}")
        kept[name] = {"tests": int(count[1]), "failed": sum(map(int, failed))}
        print(f"{name}: {kept[name]['failed']} of {kept[name]['tests']} failed")
        if kept[name]["failed"]:
            print(done.stderr[-6000:])
    return kept


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plan")
    parser.add_argument("environments")
    parser.add_argument("--only", choices=drawn_plans.TARGETS)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    kept = json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {"seed": drawn_plans.SEED, "targets": {}}
    names = [asked.only] if asked.only else list(drawn_plans.TARGETS)
    with tempfile.TemporaryDirectory() as folder:
        exports = drawn_plans.draw_all(asked.plan, folder, names)
        for name in names:
            kept["targets"][name] = check_target(asked.plan, name, folder, exports[name], asked.environments)
    if not asked.only:
        kept["trained"] = trained(asked.plan, asked.environments)
    if asked.write:
        VERDICTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    counts = [count for name in names for count in kept["targets"][name]["releases"].values()]
    failed = sum(one["failed"] for one in kept.get("trained", {}).values())
    return 1 if failed or any(count["accepted"] < count["of"] for count in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
