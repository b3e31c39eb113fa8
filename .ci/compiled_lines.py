#!/usr/bin/env python3
"""Counts the lines that a compiler reads to build `plan`, after preprocessing, and fails where they have grown by a fifth.

Usage: compiled_lines.py BUILD_FOLDER [--regenerate]. What a compile takes is mostly what it reads, and no load of the
machine moves this figure. Lines of a precompiled header are counted once for each target that makes it. The count that
was committed is in compiled_lines.json, with the compiler's major version: other versions bring other standard headers
and are reported, not compared.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

COMMITTED = pathlib.Path(__file__).with_suffix(".json")
MOST_GROWTH = 0.2


def sources_of_plan(folder):
    """Output paths of the objects that `plan` is linked from, precompiled headers included."""
    inputs = subprocess.run(["ninja", "-C", folder, "-t", "inputs", "plan"], check=True, capture_output=True, text=True).stdout
    return {line for line in inputs.splitlines() if line.endswith((".o", ".gch"))}


def commands(folder, outputs):
    """Of each of these outputs the compiler's command and where it runs, of the compile commands."""
    entries = json.loads(pathlib.Path(folder, "compile_commands.json").read_text(encoding="utf-8"))
    found = []
    for entry in entries:
        words = shlex.split(entry["command"])
        if words[words.index("-o") + 1] in outputs:
            found.append((words, entry["directory"]))
    return found


def precompiled(words):
    """The header that the command has precompiled; None: it includes none, or makes it."""
    for flag, value in zip(words, words[1:]):
        if flag == "-include" and value.endswith("cmake_pch.hxx") and not words[words.index("-o") + 1].endswith(".gch"):
            return value
    return None


def preprocess_command(words):
    """The same translation unit, preprocessed to standard output; neither a compiler cache nor a precompiled header helps."""
    begin = next(i for i, word in enumerate(words) if re.search(r"(^|/)(c\+\+|g\+\+|clang\+\+)[-0-9.]*$", word))
    kept, skips = [], 0
    for flag in words[begin:]:
        if skips:
            skips -= 1
        elif flag == "-o":
            skips = 1
        elif flag not in ("-c", "-Winvalid-pch"):
            kept.append(flag)
    return [*kept, "-E", "-P"]


def lines(text):
    return sum(1 for line in text.splitlines() if line.strip())


def preprocessed_lines(words, directory):
    return lines(subprocess.run(preprocess_command(words), cwd=directory, check=True, capture_output=True, text=True).stdout)


def header_lines(words, header, directory):
    """Of the precompiled header alone, with the flags of what includes it."""
    begin = preprocess_command(words)
    source = begin.index(next(word for word in begin if word.endswith((".cpp", ".cxx"))))
    return preprocessed_lines([*begin[:source], "-xc++", "/dev/null", "-o", "-"], directory)


def count(folder):
    """Translation units and their lines; each unit's without those that a precompiled header has read already."""
    units = commands(folder, sources_of_plan(folder))
    headers = {}
    for words, directory in units:
        header = precompiled(words)
        if header is not None and header not in headers:
            headers[header] = header_lines(words, header, directory)

    def one(unit):
        words, directory = unit
        return preprocessed_lines(words, directory) - headers.get(precompiled(words), 0)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return len(units), sum(pool.map(one, units))


def compiler_version(folder):
    cache = pathlib.Path(folder, "CMakeCache.txt").read_text(encoding="utf-8")
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)[1]
    return subprocess.run([compiler, "-dumpversion"], check=True, capture_output=True, text=True).stdout.split(".")[0].strip()


def problem(now, committed):
    """What is wrong with a count beside the one that was committed; empty: nothing."""
    if now <= committed * (1 + MOST_GROWTH):
        return ""
    return (f"plan: the compiler reads {now} lines, {now / committed - 1:.0%} more than the {committed} of {COMMITTED.name}; "
            f"at most {MOST_GROWTH:.0%} more are expected: which header became wide? (--regenerate where it is meant)")


def main():
    folder = sys.argv[1]
    units, now = count(folder)
    version = compiler_version(folder)
    print(f"plan: {units} translation units, {now} preprocessed lines with compiler {version}")
    if "--regenerate" in sys.argv[2:]:
        COMMITTED.write_text(json.dumps({"compiler": version, "units": units, "lines": now}, indent=2) + "\n", encoding="utf-8")
        return
    committed = json.loads(COMMITTED.read_text(encoding="utf-8"))
    if committed["compiler"] != version:
        print(f"not compared: {COMMITTED.name} is of compiler {committed['compiler']}")
    elif text := problem(now, committed["lines"]):
        raise SystemExit(text)


if __name__ == "__main__":
    main()
