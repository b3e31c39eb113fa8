#!/usr/bin/env python3
"""What executes a program calls kernels through its device's table and copies tensors by its device."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES_A_KERNEL = re.compile(r"\breference::|\bnamespace\s+reference\b|\bkernels/reference/")
CALLS_THE_CPU = re.compile(NAMES_A_KERNEL.pattern + r"|\bcpu_kernels\(")
COPIES_ON_THE_HOST = re.compile(r"\bmem(cpy|set|move)\(")
HOST_BUFFERS = {"runtime/run/rank_checkpoint.cpp",  # of files and messages
                "runtime/run/watched_process.cpp"}  # of a pipe
COMMENT = re.compile(r"//.*")
FOLDERS = ("runtime/execution", "runtime/training")
FILLS_THE_TABLE = "runtime/device/cpu_kernels.cpp"


def found(folder, pattern):
    """Places below a folder whose code has the pattern."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(COMMENT.sub("", line)):
                yield f"{path.relative_to(ROOT)}:{number}"


class KernelsByTable(unittest.TestCase):
    def test_execution_and_training_name_no_kernel_of_the_cpu(self):
        for folder in FOLDERS:
            self.assertTrue(list((ROOT / folder).glob("*.cpp")), folder)
            self.assertEqual(list(found(folder, CALLS_THE_CPU)), [])

    def test_one_file_fills_the_table(self):
        files = {place.split(":")[0] for place in found("runtime/device", NAMES_A_KERNEL)}
        self.assertEqual(files, {FILLS_THE_TABLE})

    def test_tensors_are_copied_by_their_device(self):
        files = {place.split(":")[0] for folder in ("runtime/execution", "runtime/run")
                 for place in found(folder, COPIES_ON_THE_HOST)}
        self.assertEqual(files, HOST_BUFFERS)

    def test_the_pattern_finds_a_call(self):
        self.assertTrue(CALLS_THE_CPU.search("    reference::add({a, b, sum});"))
        self.assertFalse(CALLS_THE_CPU.search("    call.kernels().add({a, b, sum});"))


if __name__ == "__main__":
    unittest.main()
