#!/usr/bin/env python3
"""Runs mpi_ranks on four processes: agreement with threads, and each fault. Exits with 77 where MPI is absent.

Usage: mpi_test.py <mpi_ranks, or empty> <mpirun>
"""
import os
import subprocess
import sys
import time
import unittest

from mpi_launch import launcher, skip_without

PROGRAM, MPIRUN = "", ""


def mpirun(kind, ranks=4, **environment):
    """Exit status, text and seconds of one job."""
    begin = time.monotonic()
    run = subprocess.run(launcher(MPIRUN) + ["-n", str(ranks), PROGRAM, kind], capture_output=True, text=True,
                         timeout=120, env={**os.environ, **environment})
    return run.returncode, run.stdout + run.stderr, time.monotonic() - begin


class Mpi(unittest.TestCase):
    def test_results_and_counts_are_those_of_threads(self):
        for ranks in (1, 3, 4):
            code, text, _ = mpirun("agree", ranks)
            self.assertEqual(code, 0, text)
            self.assertIn("bytes agree", text)

    def test_messages_in_many_fragments_are_the_same(self):
        code, text, _ = mpirun("fragments")
        self.assertEqual(code, 0, text)
        self.assertIn("bytes agree", text)

    def test_a_rank_that_throws_is_named_by_all(self):
        code, text, seconds = mpirun("throw")
        self.assertEqual(code, 3, text)
        self.assertIn("rank 2 failed: disk full", text)
        self.assertIn("rank 0 stopped in barrier 0 of group data: rank 2 failed: disk full", text)
        self.assertLess(seconds, 30)

    def test_a_bug_of_ours_is_told_once_with_its_own_exit_code(self):
        code, text, seconds = mpirun("bug")
        self.assertEqual(code, 70, text)
        self.assertEqual(text.count("rank 2 failed: internal check failed: an operator has its inputs"), 1, text)
        self.assertLess(seconds, 30)

    def test_a_killed_process_ends_the_job(self):
        code, text, seconds = mpirun("kill")
        self.assertNotEqual(code, 0, text)
        self.assertIn("rank 2", text)
        self.assertLess(seconds, 30)

    def test_a_rank_that_hangs_is_named_with_the_call(self):
        code, text, seconds = mpirun("hang")
        self.assertEqual(code, 3, text)
        # Whoever gives up first: in the barrier's second round rank 1 waits for rank 3, which waits for rank 2.
        self.assertRegex(text, r"rank \d waited 5\S* \w+ in barrier 0 of group data for rank \d; "
                               r"(rank \d waits for rank \d, )*rank 2 waits for nobody")
        self.assertNotRegex(text, r"rank [013] waits for nobody")
        self.assertLess(seconds, 30)

    def test_a_rank_that_gives_up_beside_a_waiting_one_names_the_one_that_hangs(self):
        """Rank 1 is the only one whose patience ends."""
        code, text, _ = mpirun("impatient")
        self.assertEqual(code, 3, text)
        self.assertRegex(text, r"rank 1 waited 4\S* \w+ in barrier 0 of group data for rank 3; "
                               r"rank 3 waits for rank 2, rank 2 waits for nobody")

    def test_a_rank_that_ends_early_is_noticed(self):
        code, text, _ = mpirun("end")
        self.assertEqual(code, 3, text)
        # Either a rank that still wants rank 2 gives up first, or rank 2, which waits for all at its end.
        self.assertRegex(text, r"waited 5\S* \w+ (in barrier 0 of group data for rank \d; .*rank 2 is at its end|"
                               r"at its end for the other ranks to finish; .*waits for rank 2)")

    def test_variables_of_another_launcher_that_contradict_are_refused(self):
        code, text, _ = mpirun("agree", 2, RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        self.assertNotEqual(code, 0, text)
        self.assertIn("torchrun started this process as rank 0 of 1, but MPI says", text)


if __name__ == "__main__":
    PROGRAM, MPIRUN = sys.argv[1], sys.argv[2]
    skip_without(PROGRAM, MPIRUN)
    unittest.main(argv=sys.argv[:1])
