#!/usr/bin/env python3
"""A front end holds nothing but its surface: JSON is read and written in `io` folders, beside use-cases, which
are planner/session's, and by the library for C, whose questions it is; sessions neither print nor end the program."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# `to_json_text(to_json(answer))` is how a front end prints; what stands inside is built below.
BUILDS_OR_READS_JSON = re.compile(r"\bJson\b|\bJsonPlace\b|\bJsonObject\b|\bparse_json\b|\bread_json_file\b|nlohmann")
PRINTS_OR_ENDS = re.compile(r"\bstd::cout\b|\bstd::cerr\b|\bprintf\b|\bfprintf\b|\bexit\(|\babort\(|\bwrite_output_file\b|\bCLI::")
COMMENT = re.compile(r"//.*")


def lines(folder):
    """(place, code) of each line of a folder's sources, without comments."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".h", ".cpp"):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                yield f"{path.relative_to(ROOT)}:{number}", COMMENT.sub("", line)


def found(folder, pattern):
    return [place for place, code in lines(folder) if pattern.search(code)]


class OneSurface(unittest.TestCase):
    def test_the_command_line_builds_and_reads_no_json(self):
        self.assertTrue(list(lines("cli")))
        self.assertEqual(found("cli", BUILDS_OR_READS_JSON), [])

    def test_sessions_and_what_is_presented_print_nothing_and_end_nothing(self):
        for folder in ("planner/session", "planner/present"):
            self.assertTrue(list(lines(folder)), folder)
            self.assertEqual(found(folder, PRINTS_OR_ENDS), [])

    def test_the_patterns_find_what_they_look_for(self):
        self.assertTrue(BUILDS_OR_READS_JSON.search("Json::Array a;"))
        self.assertFalse(BUILDS_OR_READS_JSON.search("terminal.print(to_json_text(to_json(answer)));"))
        self.assertTrue(PRINTS_OR_ENDS.search("std::exit(1);"))


if __name__ == "__main__":
    unittest.main()
