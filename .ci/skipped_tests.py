#!/usr/bin/env python3
"""Lists the tests that a run of ctest skipped, and fails where one of them must run.

Usage: skipped_tests.py CTEST_OUTPUT. Exits with 1 where a test over MPI, or over the stand-in for NCCL, did not pass
though the package that it needs is here or can be installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys

# test, or the executable whose files are entries of their own (NAME.FILE): the package without which it is skipped or not built, and a file or program that the package brings
NEEDS = {
    "mpi": ("libopenmpi-dev", "mpirun"),
    "integration_mpi_run": ("libopenmpi-dev", "mpirun"),
    "runtime_cuda_tests": ("libboost-context-dev", ""),
    "cuda_module": ("libboost-context-dev", ""),
}
OUTCOME = re.compile(r"Test +#\d+: (\S+) \.*(?:\*\*\*)? *(Passed|Skipped|Failed|Timeout|Not Run|Exception)")


def can_be_installed(package, program):
    """Whether it is here, or apt knows it."""
    if program and shutil.which(program):
        return True
    if not shutil.which("apt-cache"):
        return False
    return bool(subprocess.run(["apt-cache", "madison", package], text=True, capture_output=True).stdout.strip())


def outcomes(text):
    """Name of each test of a run to what became of it."""
    return dict(OUTCOME.findall(text))


def outcome_of(name, found):
    """Of the test, or of all entries of an executable: the first that is not Passed."""
    of_name = [outcome for test, outcome in found.items() if test == name or test.startswith(name + ".")]
    return next((outcome for outcome in of_name if outcome != "Passed"), of_name[0] if of_name else "not among the tests")


def report(found, installable=can_be_installed):
    """The lines to print, and whether all that must run has passed."""
    lines, is_complete = [], True
    for name in sorted(name for name, outcome in found.items() if outcome == "Skipped"):
        lines.append(f"skipped: {name}")
    for name, (package, program) in NEEDS.items():
        outcome = outcome_of(name, found)
        if outcome == "Passed":
            continue
        if outcome in ("Skipped", "not among the tests") and not installable(package, program):
            lines.append(f"not run: {name}, which needs {package}, and that cannot be installed here")
            continue
        lines.append(f"must pass: {name}: {outcome}; it needs {package}")
        is_complete = False
    return lines, is_complete


def main():
    found = outcomes(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace"))
    if not found:
        raise SystemExit(f"{sys.argv[1]}: holds no test of ctest")
    lines, is_complete = report(found)
    print("\n".join(lines) if lines else "no test was skipped")
    raise SystemExit(0 if is_complete else 1)


if __name__ == "__main__":
    main()
