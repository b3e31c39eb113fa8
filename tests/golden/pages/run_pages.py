#!/usr/bin/env python3
"""Runs the commands of pages and compares what they print with what the pages say.

Usage: run_pages.py <plan> <folder or page>... [--regenerate]
In a page (.md), a fenced block whose first line starts with "$ " is a transcript: "$ command" lines (continued after a
backslash), each followed by what the command printed on standard output and standard error, and "[exit N]" when N is not
0. A block whose fence names a file ("```json cluster.json") is written to that file first. The commands of a page run in
order in one new folder, by bash, without a terminal, 100 columns wide. Commands in cells of tables (`plan ...`) are run
too: they have to answer (exit codes 0 and 1), whatever they print.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(.*)$")
CELL = re.compile(r"\| `(plan [^`]*)`")


def answer(command, folder, environment):
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.stdout + (f"[exit {done.returncode}]\n" if done.returncode else "")


def commands_of(lines):
    """The commands of a transcript as they are written, continuation lines included."""
    commands = []
    continues = False
    for line in lines:
        if continues:
            commands[-1] += "\n" + line
        elif line.startswith("$ "):
            commands.append(line[2:])
        else:
            continue
        continues = line.endswith("\\")
    return commands


def transcript(lines, folder, environment):
    answers = (f"$ {command}\n{answer(command, folder, environment)}" for command in commands_of(lines))
    return "\n".join(answers).rstrip("\n").split("\n")


def run_cells(line, folder, environment):
    for command in CELL.findall(line) if line.startswith("|") else ():
        said = answer(command, folder, environment)
        if said.endswith("]\n") and not said.endswith("[exit 1]\n"):
            raise SystemExit(f"{command}\n{said}")


def renewed(page, plan):
    """The page's text with the answers that its commands give now."""
    result, block, info = [], None, ""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LC_ALL": "C", "COLUMNS": "100",
                       "PATH": f"{plan.parent}:{os.environ['PATH']}"}
        for line in page.read_text(encoding="utf-8").splitlines():
            fence = FENCE.match(line)
            if fence and block is None:
                block, info = [], fence.group(1)
            elif fence:
                names = info.split()[1:]
                if names:
                    (pathlib.Path(folder) / names[0]).write_text("\n".join(block) + "\n", encoding="utf-8")
                if block and block[0].startswith("$ "):
                    block = transcript(block, folder, environment)
                result += [f"```{info}", *block]
                block = None
            elif block is not None:
                block.append(line)
                continue
            else:
                run_cells(line, folder, environment)
                result.append(line)
                continue
            if fence and block is None:
                result.append(line)
    return "\n".join(result) + "\n"


def main():
    plan = pathlib.Path(sys.argv[1]).resolve()
    pages = []
    for name in (pathlib.Path(word) for word in sys.argv[2:] if not word.startswith("--")):
        pages += sorted(name.glob("*.md")) if name.is_dir() else [name]
    failed = not pages
    for page in pages:
        old, new = page.read_text(encoding="utf-8"), renewed(page, plan)
        if "--regenerate" in sys.argv:
            page.write_text(new, encoding="utf-8")
        elif new != old:
            failed = True
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(page), "now"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
