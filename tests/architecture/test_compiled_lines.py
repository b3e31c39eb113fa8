#!/usr/bin/env python3
"""CI fails where what a compiler reads to build `plan` grows by more than a fifth."""
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("compiled_lines", ROOT / ".ci/compiled_lines.py")
compiled_lines = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compiled_lines)

UNIT = ["ccache", "/usr/bin/c++", "-O2", "-include", "/b/cmake_pch.hxx", "-o", "x.cxx.o", "-c", "/b/x.cxx"]


class CompiledLines(unittest.TestCase):
    def test_a_fifth_more_is_accepted_and_more_is_not(self):
        self.assertEqual(compiled_lines.problem(1200, 1000), "")
        self.assertEqual(compiled_lines.problem(10, 1000), "")
        self.assertIn("reads 1201 lines, 20% more than the 1000", compiled_lines.problem(1201, 1000))

    def test_a_unit_is_preprocessed_without_the_cache_and_without_an_object(self):
        self.assertEqual(compiled_lines.preprocess_command(UNIT),
                         ["/usr/bin/c++", "-O2", "-include", "/b/cmake_pch.hxx", "/b/x.cxx", "-E", "-P"])

    def test_a_unit_names_its_precompiled_header_and_the_header_itself_has_none(self):
        self.assertEqual(compiled_lines.precompiled(UNIT), "/b/cmake_pch.hxx")
        header = [*UNIT[:6], "/b/cmake_pch.hxx.gch", *UNIT[7:]]
        self.assertIsNone(compiled_lines.precompiled(header))

    def test_blank_lines_are_not_counted(self):
        self.assertEqual(compiled_lines.lines("int a;\n\n  \nint b;\n"), 2)


if __name__ == "__main__":
    unittest.main()
