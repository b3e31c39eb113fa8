#!/usr/bin/env python3
"""Templates of exported scripts (planner/frameworks/syntax/script_template.h) are Python, and their blocks end."""
import ast
import pathlib
import re
import unittest

FRAMEWORKS = pathlib.Path(__file__).resolve().parents[2] / "planner" / "frameworks"
MARK = re.compile(r"^( *)(.*?) *# plumbline: (.*)$")


def templates():
    return sorted(FRAMEWORKS.glob("*/templates/*.py"))


class ScriptTemplates(unittest.TestCase):
    def test_every_template_is_python(self):
        self.assertGreater(len(templates()), 4)
        for path in templates():
            with self.subTest(path.name):
                compile(ast.parse(path.read_text(encoding="utf-8"), str(path)), str(path), "exec")

    def test_every_block_ends(self):
        for path in templates():
            blocks = []
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                _, code, said = MARK.match(line).groups() if MARK.match(line) else ("", "", "")
                where = f"{path.relative_to(FRAMEWORKS)}:{number}: {line}"
                if said in ("else", "end"):
                    self.assertTrue(blocks and not code, where)
                    self.assertFalse(said == "else" and blocks[-1] == "else", where)
                    blocks[-1:] = ["else"] if said == "else" else []
                elif said.startswith("if ") and not code:
                    blocks.append("if")
                elif said:
                    self.assertTrue(code, f"{where}: what Python reads in the place is missing")
            self.assertEqual(blocks, [], path.name)

    def test_every_template_says_what_it_is(self):
        for path in templates():
            with self.subTest(path.name):
                self.assertTrue(path.read_text(encoding="utf-8").startswith("## "))


if __name__ == "__main__":
    unittest.main()
