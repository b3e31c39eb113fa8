#!/usr/bin/env python3
"""Refuses two types of one name in one namespace.

Usage: one_definition.py <repository root>. Prints each violation with its files; exits 1 if any.

Two files that never see each other may each define plumbline::X, and every one of them compiles; but std::vector<X> is
then one template with two meanings, of which the linker keeps either. Optimised builds hide that by inlining. Types in
an unnamed namespace are their file's own and may be called alike. A class whose parts stand in one of several files that
are never built together (mpi_session.cpp, mpi_absent.cpp) is nested in its owner and is not looked at.
"""
import pathlib
import re
import sys

FOLDERS = ("core", "kernels", "models", "planner", "runtime", "jobs", "cli", "gui", "capi", "python")
UNNAMED = re.compile(r"^namespace \{.*?^\}  // namespace$", flags=re.M | re.S)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", flags=re.M)
TYPE = re.compile(r"^(?:struct|class|enum class|union)\s+(\w+)(?:\s+final)?(?:\s*:(?!:)[^;{]*)?\s*\{", flags=re.M)


def definitions(root):
    """(qualified name, file) of each type that other files could mean."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            text = UNNAMED.sub("", path.read_text(encoding="utf-8"))
            for found in TYPE.finditer(text):
                spaces = NAMESPACE.findall(text[:found.start()])
                yield f"{spaces[-1] if spaces else ''}::{found.group(1)}", path.relative_to(root).as_posix()


def violations(root):
    files = {}
    for name, file in definitions(root):
        files.setdefault(name, []).append(file)
    return [f"{name} is defined in {' and '.join(where)}" for name, where in files.items() if len(where) > 1]


def main():
    found = violations(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(found) or "every type has one definition")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
