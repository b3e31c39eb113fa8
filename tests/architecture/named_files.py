#!/usr/bin/env python3
"""Refuses a path of ours that no file or folder has, and a header that says by what it was checked without naming a test.

Usage: named_files.py <repository root>. Prints each violation with file, line and the rule; exits 1 if any.

A header of an estimator says what it was checked against (CONTRIBUTING.md, style 16). A test that was renamed, moved or
never written leaves a claim that nobody holds. A path is ours where it begins with tests/, or with one of our folders and a
folder in it (core/plan/...): other projects have a runtime/zero and a models/norms.py. Read are sources, scripts and
documents; not the tests themselves, and not decisions, which speak of the tree of their day.
"""
import pathlib
import re
import sys

FOLDERS = ("core", "kernels", "models", "planner", "runtime", "jobs", "cli", "gui", "capi", "python", "bench", "docs", "scripts", "cmake")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake", ".txt", ".md"}
ROOT_FILES = ("README.md", "CONTRIBUTING.md", "Makefile", "CMakeLists.txt")
NAMED = re.compile(r"(?<![\w/.])tests/[\w./-]*[\w/]")
OURS = re.compile(r"(?<![\w/.-])(?:" + "|".join(FOLDERS) + r")/[\w-]+/[\w./-]*[\w]\.(?:h|cpp|cu|cuh|py|sh|md|json)(?![\w/])")
CLAIM = re.compile(r"Checked\s+(?:///\s*)?against")


def files(root):
    for folder in FOLDERS:
        yield from sorted(path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file())
    yield from (root / name for name in ROOT_FILES if (root / name).is_file())


def claims(text):
    """(line number, the comment from "Checked against" to its end) of each claim."""
    for found in CLAIM.finditer(text):
        comment = re.match(r"[^\n]*(?:\n[ \t]*//[^\n]*)*", text[found.start():]).group()
        yield text.count("\n", 0, found.start()) + 1, comment


def missing(line, root):
    """Paths of ours in a line that nothing has."""
    for test in NAMED.findall(line):
        if not (root / test).exists():
            yield test
    for file in OURS.findall(line):
        is_pattern = any(part.split(".")[0].isupper() for part in file.split("/"))  # docs/FOLDER/NAME.md
        if not is_pattern and (root / "/".join(file.split("/")[:2])).is_dir() and not (root / file).exists():
            yield file


def violations(root):
    for path in files(root):
        name = path.relative_to(root).as_posix()
        if name.startswith("docs/decisions/"):
            continue
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            for file in missing(line, root):
                yield f"{name}:{number}: names {file}, which does not exist"
        if path.suffix == ".h":
            for number, comment in claims(text):
                if not NAMED.search(comment):
                    yield f'{name}:{number}: "Checked against" names no test; expected a path tests/...'


def main():
    found = list(violations(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "every file that is named exists")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
