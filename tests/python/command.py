"""The command that the module must agree with, and the module's arguments as its flags."""
import json
import os
import subprocess

from plumbline._arguments import given
from plumbline._errors import in_python

PLAN = os.environ["PLUMBLINE_PLAN"]
# Flags of which the command takes none with a value.
SWITCHES = {"--tp-across-nodes", "--all", "--pareto", "--executable", "--by-block", "--graph"}


def words(arguments):
    flags = []
    for flag, value in given(arguments).items():
        flags += [flag] if flag in SWITCHES else [flag, value]
    return flags


def run(verb, *more, **arguments):
    return subprocess.run([PLAN, verb, *more, *words(arguments)], capture_output=True, text=True, timeout=120,
                          check=False)


def answer(verb, *more, **arguments):
    """What the command prints with --json; it must not refuse."""
    done = run(verb, *more, "--json", **arguments)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def refusal(verb, *more, **arguments):
    """The line with which the command refuses, with flags called as Python calls them."""
    done = run(verb, *more, "--json", **arguments)
    assert done.returncode == 2, (done.returncode, done.stderr)
    return in_python(done.stderr.strip().removeprefix("plan: "))
