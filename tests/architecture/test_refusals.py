#!/usr/bin/env python3
"""docs/running.md lists what `plan run` refuses of a plan, and nothing that it does not refuse."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("core/plan/execution_rules.cpp", "core/plan/executed_network.cpp", "runtime/run/capability_check.cpp")
# It only completes what others hand to it.
WRAPPER = re.compile(r"\bwhat \+")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def table():
    page = (ROOT / "docs/running.md").read_text(encoding="utf-8")
    begin = page.index("## What of a plan is executed")
    section = page[begin:page.index("\n## ", begin + 1)]
    return [line.split(" | ")[1] for line in section.splitlines() if line.startswith("| ") and "`" in line.split(" | ")[1]]


def calls(source, names):
    """The arguments of each call, as text: from its bracket to the one that closes it."""
    for match in re.finditer(r"\b(?:" + "|".join(names) + r")\(", source):
        depth, at, quoted = 1, match.end(), False
        while depth > 0:
            if source[at] == '"' and source[at - 1] != "\\":
                quoted = not quoted
            depth += 0 if quoted else (source[at] == "(") - (source[at] == ")")
            at += 1
        yield source[match.end():at - 1]


def refusals():
    """Of every refusal, the literals that its call has: what was found, what was expected."""
    for name in SOURCES:
        source = (ROOT / name).read_text(encoding="utf-8")
        for arguments in calls(source, ("refuse", "not_executed", "InputProblem", "InputError")):
            literals = [literal for literal in TEXT.findall(arguments) if literal not in ("", "--plan")]
            if literals and not WRAPPER.search(arguments):
                yield literals


class Refusals(unittest.TestCase):
    def test_every_refusal_stands_in_the_table(self):
        said = "\n".join(table())
        fragments = re.findall(r"`([^`]+)`", said)
        for literals in refusals():
            self.assertTrue(any(fragment in literal for fragment in fragments for literal in literals),
                            f"docs/running.md does not list: {literals}")

    def test_every_row_is_a_refusal(self):
        literals = [literal for one in refusals() for literal in one]
        for row in table():
            for fragment in re.findall(r"`([^`]+)`", row):
                self.assertTrue(any(fragment in literal for literal in literals),
                                f"nothing in {' or '.join(SOURCES)} says: {fragment}")

    def test_there_are_as_many_as_were_written(self):
        self.assertGreater(len(list(refusals())), 15)  # a source whose calls nobody finds has none


if __name__ == "__main__":
    unittest.main()
