#!/usr/bin/env python3
"""Fails where product files are long in the median, or a class has too many methods; reports files of more than 400 lines:
size collects where search and model grow together.

Usage: sizes.py <repository root>
"""
import pathlib
import statistics
import sys

from class_methods import counts_of

PRODUCT = ("core", "kernels", "models", "planner", "runtime", "jobs", "cli", "gui", "capi", "python")
FOLDERS = PRODUCT + ("tests", "bench", "scripts", "cmake")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake", ".txt"}
QUESTIONED_AT = 400
MEDIAN_BELOW = 60
MOST_METHODS = 25


def lengths_of(root):
    """Lines of every source file, by path."""
    return {path.relative_to(root).as_posix(): len(path.read_bytes().splitlines())
            for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file()}


def product_median(lengths):
    return statistics.median(lines for path, lines in lengths.items() if path.split("/")[0] in PRODUCT)


def faults(lengths, counts):
    """What is too large: `counts` are triples of number of methods, class and file."""
    found = []
    median = product_median(lengths)
    if median >= MEDIAN_BELOW:
        found.append(f"the median product file has {median:g} lines; below {MEDIAN_BELOW} is asked: split by meaning")
    return found + [f"{path}: {name} has {number} methods; at most {MOST_METHODS} are asked: which noun is missing?"
                    for number, name, path in counts if number > MOST_METHODS]


def main():
    root = pathlib.Path(sys.argv[1])
    lengths = lengths_of(root)
    ordered = sorted(lengths.values())
    print(f"{len(ordered)} files, median {ordered[len(ordered) // 2]} lines (product files {product_median(lengths):g}), "
          f"90th percentile {ordered[len(ordered) * 9 // 10]}, longest {ordered[-1]}")
    for path, lines in sorted(lengths.items(), key=lambda item: (-item[1], item[0])):
        if lines > QUESTIONED_AT:
            print(f"{path}: {lines} lines: can it be split by meaning?")
    found = faults(lengths, counts_of(root))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
