#!/usr/bin/env python3
"""Runs a compiler and notes the processor time that it took, which other work on the machine does not lengthen.

Usage: compile_time.py LOG COMMAND...     appends "SECONDS FILE" to LOG, where the command ends well
"""
import pathlib
import resource
import subprocess
import sys


def main():
    log, *command = sys.argv[1:]
    code = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    sources = [word for word in command if pathlib.Path(word).suffix in (".cu", ".cpp")]
    if code == 0 and sources:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{used.ru_utime + used.ru_stime:.1f} {pathlib.Path(sources[-1]).name}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
