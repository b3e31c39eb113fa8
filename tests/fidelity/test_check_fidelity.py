#!/usr/bin/env python3
"""The fidelity check refuses what it says it refuses."""
import unittest

import check_fidelity
import cross_validation


def committed(n=10, mape=0.05):
    return {"a source": {"time": {"n": n, "mape": mape}, "fit": {"n": 4, "right": 3}}}


class Check(unittest.TestCase):
    def test_equal_numbers_pass(self):
        self.assertEqual(check_fidelity.complaints(committed(), committed()), [])

    def test_an_error_may_grow_by_a_tenth_of_itself_and_no_more(self):
        self.assertEqual(check_fidelity.complaints(committed(), committed(mape=0.0549)), [])
        self.assertEqual(check_fidelity.complaints(committed(), committed(mape=0.0551)),
                         ["a source, time: mean error 5.51 %, was 5.00 %"])

    def test_rows_may_not_vanish(self):
        self.assertEqual(check_fidelity.complaints(committed(), committed(n=9)),
                         ["a source, time: 9 rows predicted, were 10"])
        self.assertEqual(len(check_fidelity.complaints(committed(), {})), 2)

    def test_fit_answers_may_not_turn_wrong(self):
        now = committed()
        now["a source"]["fit"] = {"n": 4, "right": 2}
        self.assertEqual(check_fidelity.complaints(committed(), now), ["a source, fit: 2 right, were 3"])

    def test_what_became_better_is_named(self):
        self.assertEqual(check_fidelity.improvements(committed(), committed(mape=0.04)),
                         ["a source, time: mean error 4.00 %, was 5.00 %"])


def cross_validated(mape=0.05, n=10, right=0.9):
    series = {"n": n, "mape": mape}
    return {"classes": {"a class": {"tested": series}}, "sources": {}, "ranking": {"right": right},
            "stacks": {"a stack": {"without": series, "after": None}}}


class CrossValidation(unittest.TestCase):
    def test_equal_summaries_pass(self):
        self.assertEqual(check_fidelity.cross_validation_complaints(cross_validated(), cross_validated()), [])

    def test_tested_errors_may_grow_by_a_tenth_of_themselves_and_no_more(self):
        self.assertEqual(check_fidelity.cross_validation_complaints(cross_validated(), cross_validated(0.0549)), [])
        self.assertEqual(check_fidelity.cross_validation_complaints(cross_validated(), cross_validated(0.0551)),
                         ["a class: mean error 5.51 %, was 5.00 %", "a stack, without: mean error 5.51 %, was 5.00 %"])

    def test_tested_rows_may_not_vanish_and_orders_may_not_turn_wrong(self):
        self.assertEqual(len(check_fidelity.cross_validation_complaints(cross_validated(), cross_validated(n=9))), 2)
        self.assertEqual(check_fidelity.cross_validation_complaints(cross_validated(), cross_validated(right=0.88)),
                         ["pairs in the right order: 0.88, were 0.9"])

    def test_the_summary_computes_what_it_says(self):
        rows = [{"measured": 1.0, "fitted": 1.1, "tested": {"low": 0.9, "expected": 1.2, "high": 1.3}},
                {"measured": 1.0, "fitted": 1.0, "tested": {"low": 1.05, "expected": 0.9, "high": 1.3}}]
        both = cross_validation.both(rows)
        self.assertAlmostEqual(both["tested"]["mape"], 0.15)
        self.assertAlmostEqual(both["tested"]["bias"], 0.05)
        self.assertAlmostEqual(both["fitted"]["mape"], 0.05)
        self.assertEqual(both["coverage"], 0.5)

    def test_a_fold_that_differs_from_the_committed_one_is_stale(self):
        def answer(expected):
            return {"rows": [{"fold": 1, "trust": "trusted", "measured": 1.0, "tested": {"expected": expected}},
                             {"fold": 1, "trust": "doubtful", "measured": 1.0, "tested": {"expected": 9.0}}]}
        committed = {"folds": {"1": {"n": 1, "mape": 0.1}}}
        self.assertEqual(check_fidelity.fold_complaints(committed, answer(1.1004)), [])
        self.assertEqual(check_fidelity.fold_complaints(committed, answer(1.12)),
                         ["fold 1: 12.00 % over 1 rows, committed 10.00 % over 1 rows: make cross-validation"])
        self.assertEqual(len(check_fidelity.fold_complaints({}, answer(1.1))), 1)

    def test_an_interval_that_held_may_not_stop_to(self):
        before, now = cross_validated(), cross_validated()
        before["regimes"], now["regimes"] = {"unknown": {"n": 100, "coverage": 0.9}}, {"unknown": {"n": 100, "coverage": 0.8}}
        self.assertEqual(check_fidelity.cross_validation_complaints(before, now),
                         ["unknown: 80.0 % inside the stated interval, were 90.0 %"])

    def test_regimes_are_judged_by_rows_of_left_out_frameworks_too(self):
        def row(low, **more):
            return dict({"trust": "trusted", "measured": 1.0, "tested": {"low": low, "expected": 1.0, "high": 2.0}}, **more)
        answer = {"rows": [row(0.9, regime="unknown")],
                  "left_out_stacks": [{"without": [row(0.9), row(1.1), dict(row(0.9), trust="doubtful")], "after": []}]}
        self.assertEqual(cross_validation.regimes(answer), {
            "unknown, in folds": {"n": 1, "coverage": 1.0}, "unknown, framework left out": {"n": 2, "coverage": 0.5}})

    def test_coverage_of_few_rows_is_judged_by_a_binomial_test(self):
        self.assertTrue(cross_validation.binomial_inside(9, 10))
        self.assertTrue(cross_validation.binomial_inside(7, 8))
        self.assertFalse(cross_validation.binomial_inside(5, 10))


def host_bound_row(strategy, measured, expected):
    return {"strategy": strategy, "measured": measured, "fitted": expected,
            "tested": {"low": 0.9 * expected, "expected": expected, "high": 1.1 * expected}}


class HostBound(unittest.TestCase):
    def kept(self, factor=1.0):
        answer = {"rows": [host_bound_row("tp 8 mbs 1 x 2", 1.0, 1 - 0.1 * factor),
                           host_bound_row("dp 2 mbs 1 x 2", 1.0, 1.0)],
                  "questions": [{"rows": 3, "pairs": 4, "pairs_right": 3, "regret": 0.02 * factor, "noise": 0.01,
                                 "spearman": 0.5}]}
        return cross_validation.host_bound_summary(answer)

    def test_errors_are_told_apart_by_tensor_parallel_ranks(self):
        kept = self.kept()
        self.assertEqual(sorted(kept["by_tp"]), ["1", "8"])
        self.assertAlmostEqual(kept["by_tp"]["8"]["bias"], -0.1)
        self.assertAlmostEqual(kept["tested"]["mape"], 0.05)
        self.assertAlmostEqual(kept["ranking"]["mean_regret"], 0.02)

    def test_what_grew_by_more_than_a_tenth_is_named(self):
        self.assertEqual(check_fidelity.host_bound_complaints(self.kept(), self.kept()), [])
        self.assertEqual(check_fidelity.host_bound_complaints(self.kept(), self.kept(1.2)),
                         ["host-bound, mean error: 6.00 %, was 5.00 %", "host-bound, regret: 2.40 %, was 2.00 %"])


if __name__ == "__main__":
    unittest.main()
