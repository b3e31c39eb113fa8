#!/usr/bin/env python3
"""Compiles the CUDA kernels with nvcc and refuses registers that are spilled and files that take long.

Usage: check_resources.py <nvcc> <repository root> <architecture>...   (sm_80, sm_90a)
Prints each file's seconds of processor time and the most registers of a kernel in it. No GPU is needed.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LONGEST_SECONDS = 60
SPILL = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
FUNCTION = re.compile(r"Function properties for (\S+)")
REGISTERS = re.compile(r"Used (\d+) registers")


def spilled_functions(report):
    """Names of functions of a report of ptxas that spill."""
    name = "a kernel"
    for line in report.splitlines():
        if found := FUNCTION.search(line):
            name = found.group(1)
        elif (found := SPILL.search(line)) and found.groups() != ("0", "0"):
            yield f"{name}: {found.group(0)}"


def compile_one(nvcc, root, source, architecture):
    """(report of the compiler, seconds of processor time of one compilation)"""
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++20", "-O3", "--expt-relaxed-constexpr", "-diag-suppress=554", f"-arch={architecture}", "-I", str(root), "-Xptxas=-v",
                   "-c", str(source), "-o", os.path.join(folder, "object.o")]
        script = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=sys.stderr); "
                  "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime); sys.exit(code)")
        done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr, None
    return done.stderr, float(done.stdout)


def problems_of(name, report, seconds):
    if seconds is None:
        return [f"{name}: does not compile\n{report}"]
    found = [f"{name}: {spilled}" for spilled in spilled_functions(report)]
    if seconds > LONGEST_SECONDS:
        found.append(f"{name}: takes {seconds:.0f} s to compile; at most {LONGEST_SECONDS} s are wanted")
    return found


def main():
    nvcc, root, architectures = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    sources = sorted((root / "kernels/cuda").glob("*.cu"))
    jobs = [(source, architecture) for source in sources for architecture in architectures]
    problems = [] if jobs else ["no kernels were found"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: compile_one(nvcc, root, *job), jobs)
        for (source, architecture), (report, seconds) in zip(jobs, results):
            name = f"{source.name} for {architecture}"
            registers = max((int(n) for n in REGISTERS.findall(report)), default=0)
            if seconds is not None:
                print(f"{name}: {seconds:.1f} s, at most {registers} registers")
            problems += problems_of(name, report, seconds)
    print("\n".join(problems) or "nothing is spilled")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
