#!/usr/bin/env python3
"""The fidelity check refuses what it says it refuses."""
import unittest

import check_fidelity
import cross_validation
import outside


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
                         ["a source, time: 9 runs predicted, were 10"])
        self.assertEqual(len(check_fidelity.complaints(committed(), {})), 2)

    def test_fit_answers_may_not_turn_wrong(self):
        now = committed()
        now["a source"]["fit"] = {"n": 4, "right": 2}
        self.assertEqual(check_fidelity.complaints(committed(), now), ["a source, fit: 2 right, were 3"])

    def test_what_became_better_is_named(self):
        self.assertEqual(check_fidelity.improvements(committed(), committed(mape=0.04)),
                         ["a source, time: mean error 4.00 %, was 5.00 %"])


class Outside(unittest.TestCase):
    def of(self, mape=0.1, n=24):
        series = {"time": {"n": n, "mape": mape}, "memory": {"n": n, "mape": 0.1}}
        one = {"time": {"n": 1, "mape": 0.1}, "memory": {"n": 1, "mape": 0.1}}
        return {"unnamed": series, "named": series, "compiled": one}

    def test_errors_may_grow_by_a_tenth_and_runs_may_not_vanish(self):
        self.assertEqual(outside.complaints(self.of(), self.of(0.109)), [])
        self.assertEqual(outside.complaints(self.of(), self.of(0.111)),
                         ["own steps, framework unnamed, time: mean error 11.10 %, was 10.00 %",
                          "own steps, framework named, time: mean error 11.10 %, was 10.00 %"])
        self.assertEqual(len(outside.complaints(self.of(), self.of(n=23))), 4)

    def test_without_its_name_a_framework_keeps_what_its_runs_state(self):
        common = {"framework": "PyTorch", "compile": False}
        self.assertEqual(outside.unnamed({"common": common, "rows": []})["common"], {"compile": False})


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
                             {"fold": 2, "trust": "trusted", "measured": 1.0, "tested": {"expected": 9.0}}]}
        committed = {"folds": {"1": {"n": 1, "mape": 0.1}}}
        self.assertEqual(check_fidelity.fold_complaints(committed, answer(1.1004)), [])
        self.assertEqual(check_fidelity.fold_complaints(committed, answer(1.12)),
                         ["fold 1: 12.00 % over 1 runs, committed 10.00 % over 1 runs: make cross-validation"])
        self.assertEqual(len(check_fidelity.fold_complaints({}, answer(1.1))), 1)

    def test_an_interval_that_held_may_not_stop_to(self):
        before, now = cross_validated(), cross_validated()
        before["regimes"], now["regimes"] = {"unknown": {"n": 100, "coverage": 0.9}}, {"unknown": {"n": 100, "coverage": 0.8}}
        self.assertEqual(check_fidelity.cross_validation_complaints(before, now),
                         ["unknown: 80.0 % inside the stated interval, were 90.0 %"])

    def left_out(self):
        def row(low, regime, trust="trusted", source="a", expected=1.0):
            return {"trust": trust, "measured": 1.0, "regime": regime, "source": source, "class": "A100, dense",
                    "tested": {"low": low, "expected": expected, "high": 2.0}}
        return {"framework_known": [row(0.9, "few_rows"), row(1.1, "few_rows", "doubtful", expected=1.5)],
                "framework_unknown": [row(0.9, "unknown"), row(1.1, "unknown", "inferred", "vtrain_single", 0.8)],
                "device_unknown": [row(0.9, "unknown", "doubtful")]}

    def test_regimes_are_judged_by_all_rows_of_left_out_sources(self):
        self.assertEqual(cross_validation.regimes(self.left_out()), {
            "few_rows": {"n": 2, "coverage": 0.5}, "unknown": {"n": 2, "coverage": 1.0},
            "unknown, host-bound": {"n": 1, "coverage": 0.0}})

    def test_left_out_sources_count_every_row_of_a_class(self):
        kept = cross_validation.left_out(self.left_out())
        self.assertEqual((kept["framework_known"]["A100, dense"]["n"], kept["framework_known"]["dense"]["n"]), (2, 2))
        self.assertAlmostEqual(kept["framework_known"]["all"]["mape"], 0.25)
        self.assertEqual(sorted(kept["framework_unknown"]), ["A100, dense", "all", "dense", "host-bound small models"])

    def test_a_class_counts_rows_whatever_their_trust(self):
        rows = [{"source": "a", "class": "A100, dense", "trust": trust, "measured": 1.0, "fitted": 1.0,
                 "tested": {"low": 0.5, "expected": 1.3, "high": 2.0}} for trust in ("trusted", "inferred", "doubtful")]
        self.assertEqual(cross_validation.by_class(rows)["A100, dense"]["tested"]["n"], 3)

    def test_intervals_that_do_not_hold_are_named(self):
        self.assertEqual(check_fidelity.coverage_complaints({"regimes": {"unknown": {"n": 100, "coverage": 0.9}}}), [])
        self.assertEqual(check_fidelity.coverage_complaints({"regimes": {"unknown": {"n": 100, "coverage": 0.8}}}),
                         ["unknown: 80.0 % of 100 runs inside the stated 90 % interval"])
        self.assertEqual(check_fidelity.coverage_complaints({"regimes": {"unknown": {"n": 100, "coverage": 0.97}}}),
                         ["unknown: 97.0 % of 100 runs inside the stated 90 % interval"])
        self.assertEqual(len(check_fidelity.coverage_complaints({"regimes": {}})), 1)

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
        return cross_validation.host_bound_summary(answer, self.shipped(factor))

    def shipped(self, factor=1.0):
        return {"rows": [{"kind": "time", "measured": 1.0, "error": 0.1 * factor, "predicted": {"low": 0.9, "high": 1.2}},
                         {"kind": "memory", "measured": 1.0, "error": 9.0, "predicted": {"low": 1, "high": 1}}]}

    def test_the_shipped_stack_may_not_get_worse(self):
        kept = self.kept()
        self.assertEqual((kept["shipped"]["n"], kept["shipped"]["coverage"]), (1, 1.0))
        self.assertEqual(check_fidelity.shipped_complaints(kept, self.shipped(1.05)), [])
        self.assertEqual(check_fidelity.shipped_complaints(kept, self.shipped(1.2)),
                         ["host-bound runs by the shipped stack: 12.00 % over 1 runs, was 10.00 % over 1"])

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
