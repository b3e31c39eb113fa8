#!/usr/bin/env python3
"""Runs clang-tidy, and compiles files alone; every finding is an error.

Usage: lint.py                    every .cpp file
       lint.py --changed [BASE]   what changed since BASE: the findings of those files and headers alone

Changed headers are parsed alone as well; make headless compiles every header by itself.
BASE defaults to where this branch left main; on main itself, to the last commit that is six hours older than the newest: what
came in together is read together.
clang-tidy reads the batches of a unity build (build/lint-batches), so that headers that 16 files share are read once. A batch
hides an include that a file forgot: each file is also parsed by itself, as an incremental build compiles it (build/lint).
"""
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADERS = r".*/(core|kernels|models|planner|runtime|jobs|cli|gui|capi|tests|bench)/.*\.(h|cpp)$"
HOURS_TOGETHER = 6
JOBS = int(os.environ.get("JOBS", os.cpu_count() or 1))


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else []


def default_base():
    head = git("rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        base = git("merge-base", "HEAD", main)
        if base and base != head:
            return base[0]
    newest = int(git("log", "-1", "--format=%ct", "HEAD")[0])
    before = (git("log", "-1", "--first-parent", "--format=%H", f"--until={newest - HOURS_TOGETHER * 3600}", "HEAD")
              or git("rev-parse", "--verify", "--quiet", "HEAD~1"))
    return before[0] if before else git("hash-object", "-t", "tree", "/dev/null")[0]  # the first commit: everything


def changed_files(base):
    return sorted({*git("diff", "--name-only", "--diff-filter=d", base, "--", "*.cpp", "*.h"),
                   *git("ls-files", "--others", "--exclude-standard", "--", "*.cpp", "*.h")})


def configure(preset):
    done = subprocess.run(["cmake", "--preset", preset], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}\nlint: cmake --preset {preset} failed")
    entries = json.loads((ROOT / "build" / preset / "compile_commands.json").read_text(encoding="utf-8"))
    return {entry["file"]: entry for entry in entries}


def contents(unit):
    """The files of a batch, relative to the root; of what stands alone, itself."""
    if pathlib.Path(unit).suffix != ".cxx":
        return [os.path.relpath(unit, ROOT)]
    included = re.findall(r'#include "(.*)"', pathlib.Path(unit).read_text(encoding="utf-8"))
    folder = pathlib.Path(unit).parent  # newer versions of CMake name files relative to the batch
    return [os.path.relpath(folder / path, ROOT) for path in included]


def tidy(unit, files):
    """clang-tidy over a batch; `files`: whose findings alone are reported, None: all."""
    command = ["clang-tidy", "-p", ROOT / "build/lint-batches", "--quiet", "--warnings-as-errors=*", f"--header-filter={HEADERS}",
               "--checks=-bugprone-suspicious-include"]  # a batch includes .cpp files
    if files is not None:
        command.append("--line-filter=" + json.dumps([{"name": f"/{file}"} for file in files]))
    done = subprocess.run([*command, unit], cwd=ROOT, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout + "".join(line for line in done.stderr.splitlines(True)
                                                  if not re.match(r"\d+ warnings? (generated|treated)|Suppressed |Use -", line))


def parse_alone(entry):
    """Whether a file compiles without those that share its batch, and without a name that shadows another."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if "clang++" in word):]
    at = words.index("-o")
    done = subprocess.run([*words[:at], *words[at + 2:], "-fsyntax-only", "-Werror=shadow"], cwd=entry["directory"], check=False,
                          capture_output=True, text=True)
    return done.returncode, done.stderr if done.returncode != 0 else ""


def header_alone(header, entries):
    """A compile command for a header by itself: that of the nearest file of the lint build; None: its folder has none."""
    def shared(path):
        return len(os.path.commonpath([os.path.dirname(path), os.path.dirname(str(ROOT / header))]))

    nearest = max(entries, key=shared)
    if os.path.relpath(nearest, ROOT).split("/")[0] != header.split("/")[0]:
        return None
    words = shlex.split(entries[nearest]["command"])
    words[words.index("-c") + 1:] = ["-x", "c++-header", "-Wno-pragma-once-outside-header", str(ROOT / header)]
    return {**entries[nearest], "command": shlex.join(words)}


def main():
    subprocess.run([ROOT / "scripts/setup_debian.sh", "lint"], check=True)
    files = None
    if sys.argv[1:2] == ["--changed"]:
        base = (sys.argv[2:] or [""])[0] or default_base()
        files = changed_files(base)
        print(f"lint: {len(files)} files changed since {base[:12]}", flush=True)
        if not files:
            return
    alone, batches = configure("lint"), configure("lint-batches")
    sources = None if files is None else {*files, *(re.sub(r"\.h$", ".cpp", file) for file in files)}

    def is_asked(file):
        return not file.startswith(("build", "..")) and (sources is None or file in sources)

    units = [unit for unit in batches if any(is_asked(file) for file in contents(unit))]
    singles = [entry for path, entry in alone.items() if is_asked(os.path.relpath(path, ROOT))]
    headers = [header_alone(file, alone) for file in sorted(files or []) if file.endswith(".h")]
    singles += [entry for entry in headers if entry is not None]
    for file in sorted(sources or []):
        if file.endswith(".cpp") and (ROOT / file).exists() and str(ROOT / file) not in alone:
            print(f"lint: {file} is not part of the lint build (MPI is off there, and Qt where it is missing)")
    print(f"lint: {len(units)} batches, {len(singles)} files alone", flush=True)
    has_findings = False
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        tidied = pool.map(lambda unit: tidy(unit, files), units)
        for code, text in itertools.chain(tidied, pool.map(parse_alone, singles)):
            if code != 0:
                has_findings = True
                print(text, end="", flush=True)
    if has_findings:
        sys.exit("lint: findings above")
    print("lint: nothing found")


if __name__ == "__main__":
    main()
