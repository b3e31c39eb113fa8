#!/usr/bin/env python3
"""Reports, without failing, the files of more than 400 lines: size collects where search and model grow together.

Usage: sizes.py <repository root>
"""
import pathlib
import sys

FOLDERS = ("core", "kernels", "models", "planner", "runtime", "cli", "gui", "tests", "bench", "scripts", "cmake")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake", ".txt"}
QUESTIONED_AT = 400


def main():
    root = pathlib.Path(sys.argv[1])
    lengths = {}
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix in SUFFIXES and path.is_file():
                lengths[path.relative_to(root).as_posix()] = len(path.read_bytes().splitlines())
    ordered = sorted(lengths.values())
    print(f"{len(ordered)} files, median {ordered[len(ordered) // 2]} lines, "
          f"90th percentile {ordered[len(ordered) * 9 // 10]}, longest {ordered[-1]}")
    for path, lines in sorted(lengths.items(), key=lambda item: (-item[1], item[0])):
        if lines > QUESTIONED_AT:
            print(f"{path}: {lines} lines: can it be split by meaning?")


if __name__ == "__main__":
    main()
