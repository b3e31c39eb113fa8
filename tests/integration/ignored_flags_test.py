#!/usr/bin/env python3
"""A flag that what was asked does not read is refused in one line, never ignored.

Usage: ignored_flags_test.py <plan>
"""
import command
from command import QUESTION, Command


class IgnoredFlags(Command):
    def refuses(self, mode, words, flag, *value):
        """`words` hold the mode; the flag alongside them does nothing."""
        self.refused([*words, flag, *value], f"plan: {flag}: does nothing with {mode}; expected ", f" alongside {mode}")

    def test_calibrating_on_kernels_reads_no_rows(self):
        words = ["calibrate", "--kernels", "k.json", "--stack", "torchtitan-2025.06", "--out", "m.json"]
        for flag, value in (("--rows", "r.json"), ("--device", "H100-SXM-80GB"), ("--like", "plumbline"),
                            ("--name", "mine"), ("--kernels-out", "k2.json"), ("--fold", "1"), ("--folds", "3")):
            self.refuses("--kernels", words, flag, value)
        for flag in ("--all", "--cross-validate", "--by-question"):
            self.refuses("--kernels", words, flag)

    def test_measuring_this_computer_takes_no_machine_and_no_stack(self):
        words = ["calibrate", "--backend", "cpu", "--out", "m.json"]
        for flag, value in (("--machine", "dgx-h100"), ("--stack", "torchtitan-2025.06"), ("--rows", "r.json"),
                            ("--device", "H100-SXM-80GB"), ("--like", "plumbline"), ("--name", "mine")):
            self.refuses("--backend", words, flag, value)

    def test_calibrating_on_rows_reads_nothing_of_kernels(self):
        words = ["calibrate", "--rows", "r.json", "--out", "m.json"]
        for flag, value in (("--machine", "dgx-h100"), ("--kernels-out", "k.json"), ("--folds", "3"), ("--fold", "1")):
            self.refuses("--rows", words, flag, value)
        self.refuses("--rows", words, "--by-question")

    def test_fitting_what_ships_takes_rows_and_a_folder(self):
        words = ["calibrate", "--all", "--out", "folder"]
        for flag, value in (("--stack", "plumbline"), ("--like", "plumbline"), ("--name", "mine"), ("--fold", "1"),
                            ("--device", "H100-SXM-80GB"), ("--machine", "dgx-h100"), ("--kernels-out", "k.json")):
            self.refuses("--all", words, flag, value)
        self.refuses("--all", words, "--json")
        self.assertFalse((self.folder / "folder").exists())

    def test_cross_validation_writes_no_file_and_fits_no_stack(self):
        words = ["calibrate", "--cross-validate"]
        for flag, value in (("--out", "m.json"), ("--stack", "plumbline"), ("--like", "plumbline"), ("--name", "mine"),
                            ("--device", "H100-SXM-80GB"), ("--machine", "dgx-h100"), ("--kernels-out", "k.json")):
            self.refuses("--cross-validate", words, flag, value)
        self.refused([*words, "--by-question"], "--by-question: is given without --rows; expected both, or neither")

    def test_calibrating_on_collectives_reads_nothing_of_kernels_and_rows(self):
        words = ["calibrate", "--collectives", "log.txt", "--machine", "dgx-h100", "--out", "m.json"]
        for flag, value in (("--rows", "r.json"), ("--kernels", "k.json"), ("--stack", "plumbline"), ("--name", "mine")):
            self.refuses("--collectives", words, flag, value)

    def test_assumptions_are_printed_alone(self):
        for flag, value in (("--rows", "r.json"), ("--device", "H100-SXM-80GB"), ("--source", "llm_foundry"),
                            ("--plot", "p.svg"), ("--report", "r.md")):
            self.refuses("--assumptions", ["validate", "--assumptions"], flag, value)
        self.refused(["validate", "--assumptions", "--json"],
                     "--json: does nothing with --assumptions; expected nothing alongside --assumptions")

    def test_names_of_a_catalogue_are_printed_alone(self):
        for verb, name in (("models", "gpt2"), ("machines", "dgx-h100"), ("stacks", "plumbline")):
            self.refused([verb, "--names", "--json"], "--json: does nothing with --names")
            self.refused([verb, name, "--names"], "NAME: does nothing with --names")
        self.refused(["models", "--names", "--graph", "dot"], "--graph: ")
        self.refused(["models", "gpt2", "--graph", "dot", "--json"], "--json: does nothing with --graph", "one of the two")

    def test_a_format_of_moments_needs_moments(self):
        self.refused(["estimate", *QUESTION, "--optimizer", "sgd", "--optimizer-precision", "bf16"],
                     "--optimizer-precision: sgd keeps no moments")

    def test_routing_needs_experts(self):
        done = command.run("estimate", "--model", "nano-gpt", "--machine", "this-computer", "--gpus", 1,
                           "--global-batch", 2, "--out", "plan.json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.refused(["run", "--plan", "plan.json", "--steps", 1, "--expert-routing", "balanced"],
                     "--expert-routing: the network nano-gpt has no experts", "nearest: nano-moe")


if __name__ == "__main__":
    command.main()
