#!/usr/bin/env python3
"""CI lists the tests that were skipped, and fails where those over MPI or NCCL's stand-in were, though they can run."""
import importlib.util
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("skipped_tests", ROOT / ".ci/skipped_tests.py")
skipped_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(skipped_tests)

ALL_PASSED = """Test project build
        Start  44: mpi
 44/157 Test  #44: mpi .........................................   Passed    4.21 sec
 46/157 Test  #46: integration_mpi_run .........................   Passed   61.00 sec
100/157 Test #100: runtime_cuda_tests.cublaslt_test ............   Passed    2.42 sec
101/157 Test #101: runtime_cuda_tests.graph_training_test ......   Passed  102.42 sec
102/157 Test #102: cuda_module .................................   Passed   12.00 sec
103/157 Test #103: gpu .........................................***Skipped   0.01 sec
"""


def report(text, installable):
    return skipped_tests.report(skipped_tests.outcomes(text), lambda package, program: installable)


class SkippedTests(unittest.TestCase):
    def test_all_that_was_skipped_is_listed(self):
        self.assertEqual(report(ALL_PASSED, True), (["skipped: gpu"], True))

    def test_a_test_over_mpi_or_nccl_that_is_skipped_fails(self):
        for name in ("mpi", "integration_mpi_run", "runtime_cuda_tests", "cuda_module"):
            text = re.sub(rf"(: {name}(?:\.graph_training_test)? \.+)   Passed", r"\1***Skipped", ALL_PASSED)
            lines, is_complete = report(text, True)
            self.assertFalse(is_complete, name)
            self.assertTrue(any(line.startswith(f"skipped: {name}") for line in lines), name)
            self.assertTrue(report(text, False)[1], name)  # where its package cannot be installed

    def test_a_test_that_is_not_built_fails(self):
        without = "\n".join(line for line in ALL_PASSED.splitlines() if " mpi " not in line)
        self.assertFalse(report(without, True)[1])

    def test_the_names_are_those_of_tests(self):
        files = [path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/CMakeLists.txt")]
        for name in skipped_tests.NEEDS:
            pattern = rf"add_test\(NAME {name} |plumbline_test\({name} |{name.removeprefix('integration_')} "
            self.assertTrue(any(re.search(pattern, text) for text in files), name)

    def test_ci_asks(self):
        self.assertIn(".ci/skipped_tests.py", (ROOT / ".ci/run").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
