#!/usr/bin/env python3
"""A named file that does not exist and a claim without a test must be refused, and the real tree pass."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def check(root):
    run = subprocess.run([sys.executable, HERE / "named_files.py", root], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def check_tree_with(file, text):
    """A tree with one test, tests/unit/core/cost_test.cpp, and one file."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, content in (("tests/unit/core/cost_test.cpp", ""), (file, text)):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, encoding="utf-8")
        return check(root)


class NamedFiles(unittest.TestCase):
    def refuse(self, file, text, words):
        code, answer = check_tree_with(file, text)
        self.assertEqual((code, answer), (1, words + "\n"))

    def accept(self, file, text):
        self.assertEqual(check_tree_with(file, text), (0, "every file that is named exists\n"))

    def test_a_test_that_does_not_exist_is_refused(self):
        self.refuse("core/cost.h", "/// Checked against:\n/// tests/unit/cost_test.cpp.\n",
                    "core/cost.h:2: names tests/unit/cost_test.cpp, which does not exist")
        self.refuse("docs/a.md", "see `tests/unit/core/other_test.cpp`",
                    "docs/a.md:1: names tests/unit/core/other_test.cpp, which does not exist")

    def test_a_source_that_does_not_exist_is_refused(self):
        self.refuse("core/cost/rate.h", "/// As in core/cost/time.h.\n",
                    "core/cost/rate.h:1: names core/cost/time.h, which does not exist")
        self.accept("core/cost/rate.h", "/// As core/cost/rate.h says, and core/zero/time.py of another project.\n")
        self.accept("docs/decisions/0001-rates.md", "what was core/cost/time.h then")

    def test_a_claim_that_names_no_test_is_refused(self):
        words = 'core/cost.h:2: "Checked against" names no test; expected a path tests/...'
        self.refuse("core/cost.h", "/// Model: a sum.\n/// Checked against: what uses it.\n", words)
        self.refuse("core/cost.h", "/// Model: a sum.\n/// Checked against: papers.\n\n// tests/unit/core\n", words)
        self.refuse("core/cost.h", "/// Model: a sum.\n/// All of it is checked. Checked\n/// against: nothing.\n",
                    words)

    def test_files_and_folders_that_exist_are_accepted(self):
        self.accept("core/cost.h", "/// Checked against: Adam et al. (tests/unit/core/cost_test.cpp), exact.\n")
        self.accept("core/cost.h", "/// Checked against: laws\n/// and numbers (tests/unit/core).\n#pragma once\n")
        self.accept("core/cost.h", '#include "tests/unit/core/cost_test.cpp"\n')

    def test_a_path_that_only_ends_so_is_none_of_ours(self):
        self.accept("docs/a.md", "Megatron-Core's own tests, megatron/tests/unit_tests/x.py; tests/<kind>/<path>")

    def test_the_real_tree_passes(self):
        code, text = check(ROOT)
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    unittest.main()
