#!/usr/bin/env python3
"""Two types of one name must be refused, and the real tree pass."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OPEN, CLOSE = "namespace plumbline {\n", "}  // namespace plumbline\n"


def check(root):
    run = subprocess.run([sys.executable, HERE / "one_definition.py", root], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def check_tree(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return check(root)


class OneDefinition(unittest.TestCase):
    def test_two_types_of_one_name_are_refused(self):
        one = OPEN + "struct X {\n  int a;\n};\n" + CLOSE
        other = OPEN + "class X : public Y {\n  double b;\n};\n" + CLOSE
        self.assertEqual(check_tree({"core/a.h": one, "planner/b.h": other}),
                         (1, "plumbline::X is defined in core/a.h and planner/b.h\n"))

    def test_other_namespaces_unnamed_ones_and_declarations_are_accepted(self):
        one = OPEN + "struct X {\n};\n" + CLOSE
        for other in ("namespace plumbline::nccl {\nstruct X {\n};\n}\n",
                      OPEN + "namespace {\n\nstruct X {\n};\n\n}  // namespace\n" + CLOSE,
                      OPEN + "struct X;\nclass Y;\n" + CLOSE, OPEN + "class Y::X {\n};\n" + CLOSE):
            self.assertEqual(check_tree({"core/a.h": one, "core/b.cpp": other}), (0, "every type has one definition\n"))

    def test_the_real_tree_passes(self):
        code, text = check(ROOT)
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    unittest.main()
