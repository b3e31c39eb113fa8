#!/usr/bin/env python3
"""Reads every #include of our libraries and refuses an arrow that does not point down, and folders in a circle.

Usage: include_floors.py <repository root>. Prints each violation with file, line and the rule; exits 1 if any.

The rules are docs/architecture.md's: floors between libraries, floors between the folders of core/, and which outside
headers a folder may see. CMake checks the first for whole libraries; one include root makes every header reachable,
so only the includes themselves tell the truth.
"""
import graphlib
import pathlib
import re
import sys

LIBRARY_FLOORS = {
    "core": 0, "kernels": 0, "models": 1, "planner": 2, "runtime": 2, "jobs": 2.5, "cli": 3, "gui": 3, "capi": 3}

# The one exception between libraries of a floor: the arithmetic may use the words for errors and quantities.
KERNELS_MAY_USE = {"core/base", "core/quantity"}

# core/ from the ground up. Folders of one row do not see each other.
CORE_ROWS = [
    {"base"}, {"quantity"}, {"graph", "machine"}, {"training"}, {"plan"}, {"sharding"}, {"program"}, {"cost", "measurement"}, {"simulate"}, {"io"},
]
CORE_FLOORS = {folder: floor for floor, row in enumerate(CORE_ROWS) for folder in row}

# Outside headers that only some folders may see: what it is, how its headers are spelled, who may.
NVIDIA_FOLDERS = ("kernels/cuda", "runtime/cuda", "runtime/nccl")
GUARDED_HEADERS = [
    ("the JSON parser", re.compile(r"nlohmann/.*"), ("*/io", "models/import")),
    ("the YAML parser", re.compile(r"yaml-cpp/.*"), ("planner/frameworks/syntax",)),
    ("Boost", re.compile(r"boost/.*"), ("core/graph", "core/cost", "planner")),
    ("Qt", re.compile(r"(Q[A-Z]\w*|Qt\w+/\w+|q\w+\.h)"), ("gui",)),
    ("CUDA", re.compile(r"(cuda|cublas|cudnn|curand|cufft|cupti|nvml|nvtx|nvToolsExt|nccl|cub/|thrust/|cutlass/).*"),
     NVIDIA_FOLDERS),
    ("MPI", re.compile(r"mpi(cxx)?\.h"), ("runtime/mpi",)),
    ("CLI11", re.compile(r"CLI(11)?/.*|CLI11\.hpp"), ("cli",)),
]

# Folders that look at the libraries from outside; no library may look back.
OUTSIDE_FOLDERS = {"tests", "bench"}
SOURCE_SUFFIXES = {".h", ".hpp", ".cpp", ".cu", ".cuh"}
# A header that includes every class of a module: a file with it takes three times as long to compile.
WHOLE_QT_MODULE = re.compile(r"(Qt[A-Z]\w*)(/\1)?")
GENERATED_HEADER = re.compile(r".*\.moc|moc_.*\.cpp|ui_\w+\.h")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """`core/io/json.h` is in `core/io`."""
    return str(pathlib.PurePosixPath(path).parent)


def lies_in(path, allowed):
    """Whether a file lies in one of the folders; `*/io` is any folder named io below a library."""
    for folder in allowed:
        if folder.startswith("*/"):
            if folder[2:] in pathlib.PurePosixPath(folder_of(path)).parts[1:]:
                return True
        elif path.startswith(folder + "/"):
            return True
    return False


def library_rule(includer, included):
    """Why `includer` may not include our file `included`, or None. Both are paths from the root."""
    library, used = includer.split("/")[0], included.split("/")[0]
    if used in OUTSIDE_FOLDERS:
        return f"{library}/ may not include {used}/, which looks at it from outside"
    if library == used:
        return core_rule(includer, included) if library == "core" else None
    if library == "kernels" and lies_in(included, KERNELS_MAY_USE):
        return None
    if LIBRARY_FLOORS[used] >= LIBRARY_FLOORS[library]:
        return f"{library} (floor {LIBRARY_FLOORS[library]}) may not include {used} (floor {LIBRARY_FLOORS[used]})"
    return None


def core_rule(includer, included):
    folder, used = includer.split("/")[1], included.split("/")[1]
    for name, path in ((folder, includer), (used, included)):
        if name not in CORE_FLOORS:
            return f"{path} is in no folder of core/ that has a floor; give it one in {pathlib.Path(__file__).name}"
    if folder != used and CORE_FLOORS[used] >= CORE_FLOORS[folder]:
        return f"core/{folder} may not include core/{used}, which does not lie below it"
    return None


def include_rule(root, includer, header, is_quoted):
    """Why this include is refused, or None."""
    first = header.split("/")[0]
    if "/" in header and (first in LIBRARY_FLOORS or first in OUTSIDE_FOLDERS) and (root / first).is_dir():
        return library_rule(includer, header)
    if WHOLE_QT_MODULE.fullmatch(header):
        return "include the classes that are used, such as <QLabel>, and not all of Qt's module"
    for name, pattern, allowed in GUARDED_HEADERS:
        if pattern.fullmatch(header):
            return None if lies_in(includer, allowed) else f"{name} may only be included in {', '.join(allowed)}"
    if is_quoted and not GENERATED_HEADER.fullmatch(header):
        return "write our headers from the root of the repository, and those of others in angle brackets"
    return None


def includes(root):
    """(file, line, header, whether it is quoted) of all libraries, in order."""
    for library in LIBRARY_FLOORS:
        for path in sorted((root / library).rglob("*")):
            if path.suffix not in SOURCE_SUFFIXES:
                continue
            includer = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if found := INCLUDE.match(line):
                    yield includer, number, found.group(2), found.group(1) == '"'


def folder_circle(arrows):
    """Folders of one library that need each other, in order and the first again at the end, or None."""
    graph = {}
    for includer, _, header, is_quoted in arrows:
        folder, used = folder_of(includer), folder_of(header)
        if is_quoted and folder != used and folder.split("/")[0] == used.split("/")[0]:
            graph.setdefault(folder, set()).add(used)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return None


def violations(root):
    arrows = list(includes(root))
    for includer, number, header, is_quoted in arrows:
        if why := include_rule(root, includer, header, is_quoted):
            yield f"{includer}:{number}: includes {header}: {why}"
    if circle := folder_circle(arrows):
        for folder, used in zip(circle, circle[1:]):
            first = next(a for a in arrows if folder_of(a[0]) == folder and folder_of(a[2]) == used)
            yield f"{first[0]}:{first[1]}: includes {first[2]}: folders in a circle, {' -> '.join(circle)}"


def main():
    found = list(violations(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "every include points down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
