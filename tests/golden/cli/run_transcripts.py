#!/usr/bin/env python3
"""Runs the commands of transcripts and compares what they print.

Usage: run_transcripts.py <plan> <folder> [--regenerate]
A transcript is a .txt file: "$ plan ..." lines, each followed by what the command printed on standard output and
standard error, and "[exit N]" when N is not 0. Commands run in the transcript's folder, without a terminal.
"""
import difflib
import os
import pathlib
import shlex
import subprocess
import sys


def answer(plan, command, folder):
    words = shlex.split(command)
    environment = {**os.environ, "LC_ALL": "C", "COLUMNS": "100"}
    done = subprocess.run([plan] + words[1:], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.stdout + (f"[exit {done.returncode}]\n" if done.returncode else "")


def main():
    plan, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    failed = False
    for transcript in sorted(folder.glob("*.txt")):
        old = transcript.read_text(encoding="utf-8")
        commands = [line[2:] for line in old.splitlines() if line.startswith("$ ")]
        new = "".join(f"$ {command}\n{answer(plan, command, folder)}\n" for command in commands)
        if "--regenerate" in sys.argv:
            transcript.write_text(new, encoding="utf-8")
        elif new != old:
            failed = True
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(transcript), "now"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
