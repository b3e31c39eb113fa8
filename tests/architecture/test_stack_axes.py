#!/usr/bin/env python3
"""The table of docs/calibrations.md names every axis and every value of models/calibrations/traits.json, and no other."""
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| `(\w+)` \| ([^|]*) \|")


def axes_of_file():
    document = json.loads((ROOT / "models/calibrations/traits.json").read_text(encoding="utf-8"))
    return {axis["name"]: sorted(value["name"] for value in axis["values"]) for axis in document["axes"]}


def axes_of_table():
    text = (ROOT / "docs/calibrations.md").read_text(encoding="utf-8")
    section = text[text.index("## Stacks choose a value on every axis"):text.index("The base sets what no axis decides")]
    rows = (ROW.match(line) for line in section.splitlines())
    return {row.group(1): sorted(row.group(2).split(", ")) for row in rows if row}


class StackAxes(unittest.TestCase):
    def test_every_axis_and_value_is_in_the_table(self):
        self.assertEqual(axes_of_table(), axes_of_file())


if __name__ == "__main__":
    unittest.main()
