#!/usr/bin/env python3
"""Records which files of the product a commit touched that adds one thing, for CONTRIBUTING's table of additions.

Usage: python3 scripts/count_touched.py ROW COMMIT. ROW: as the table of CONTRIBUTING.md names it, such as "an optimizer".
Writes tests/data/additions/<subject>.json and prints the numbers that the row must say. Product: code, tables, schemas
and templates below the libraries' folders; no tests, pages or build files. Files that moved count under both names.

History may be cut off or squashed where tests run, so they count from the record, and hold it against the commit where
that is there: tests/architecture/test_contributing.py.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORDS = "tests/data/additions"
FORMAT = "plumbline.addition/1"
LIBRARIES = ("core", "kernels", "models", "planner", "runtime", "jobs", "cli", "gui", "capi", "python")
NO_PRODUCT = re.compile(r"(^|/)CMakeLists\.txt$|\.(md|cmake)$")


def git(root, *arguments):
    return subprocess.run(["git", *arguments], cwd=root, text=True, capture_output=True, check=True).stdout


def is_product(path):
    return path.split("/")[0] in LIBRARIES and "/" in path and not NO_PRODUCT.search(path)


def touched(root, commit):
    """Files of the product that a commit changes against its first parent, sorted."""
    names = git(root, "diff-tree", "--root", "-r", "-m", "--first-parent", "--no-renames", "--no-commit-id",
                "--name-only", commit)
    return sorted({name for name in names.splitlines() if is_product(name)})


def record_of(root, row, commit):
    subject = git(root, "show", "--no-patch", "--format=%s", commit).strip()
    return {"format": FORMAT, "row": row, "subject": subject, "files": touched(root, commit)}


def commit_of(root, record):
    """Where history has it: the newest commit of that subject whose parent is there too; else None."""
    try:
        log = git(root, "log", "--format=%H%x09%P%x09%s")
    except (OSError, subprocess.CalledProcessError):  # sources without their history
        return None
    grafted = pathlib.Path(git(root, "rev-parse", "--git-path", "shallow").strip())
    cut = (pathlib.Path(root) / grafted).read_text().split() if (pathlib.Path(root) / grafted).is_file() else []
    for line in log.splitlines():
        commit, parents, subject = line.split("\t", 2)
        if subject == record["subject"] and parents and commit not in cut:
            return commit
    return None


def records(root):
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((pathlib.Path(root) / RECORDS).glob("*.json"))]


def of_row(record):
    """What the row's number counts, and the files of a kernel, which every row counts apart."""
    kernels = [name for name in record["files"] if name.startswith("kernels/")]
    return [name for name in record["files"] if name not in kernels], kernels


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    record = record_of(ROOT, sys.argv[1], sys.argv[2])
    name = re.sub(r"[^a-z0-9]+", "_", record["subject"].lower()).strip("_")
    path = ROOT / RECORDS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    counted, kernels = of_row(record)
    print(f"{path.relative_to(ROOT)}: {record['row']} ({len(counted)})"
          + (f", and {len(kernels)} of a kernel" if kernels else ""))
    print("\n".join(counted + kernels))


if __name__ == "__main__":
    main()
