#!/usr/bin/env python3
"""Looks the names of PyTorch that exported scripts use (names.json) up in an installed torch.

Usage: check_pytorch_names.py   (in an environment with torch; no GPU)

Not run by CI, which has no PyTorch: tests/unit/planner/frameworks/launch/names_test.cpp holds the exports against names.json.
"""
import importlib
import json
import pathlib
import sys


def is_defined(name):
    """A module, or an attribute of the longest module that can be imported."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:size]))
        except ImportError:
            continue
        for part in parts[size:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def main():
    names = json.loads((pathlib.Path(__file__).parent / "names.json").read_text(encoding="utf-8"))["pytorch"]
    missing = [name for name in names if not is_defined(name)]
    print("\n".join(missing) if missing else "every name is defined")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
