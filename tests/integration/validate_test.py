#!/usr/bin/env python3
"""The verb validate: its JSON contract, picture, report, and what it refuses.

Usage: validate_test.py <plan>
"""
import json
from xml.etree import ElementTree

import command
from command import Command, run


class Validate(Command):
    def test_json_keeps_its_contract(self):
        rows = self.written("runs.json", json.dumps([
            {"id": "a", "model": "gpt3-175b", "hardware": "A100-SXM-80GB", "gpus": 512, "seq_len": 2048,
             "global_batch": 512, "micro_batch": 1, "tp": 8, "pp": 8, "vpp": 3, "precision": "fp16",
             "recompute": "full", "flash_attention": False, "zero_stage": 0, "framework": "Megatron-LM",
             "measured": {"step_time_s": 18.1, "memory_gib": 50}, "oom": False},
            {"id": "b", "model": "gpt3-175b", "hardware": "A100-SXM-80GB", "measured": {"step_time_s": 1}}]))
        answer = json.loads(run("validate", "--rows", rows, "--json").stdout)
        self.assertEqual([(row["id"], row["kind"]) for row in answer["rows"]],
                         [("a", "time"), ("a", "memory"), ("a", "fit")])
        for row in answer["rows"][:2]:
            self.assertEqual(set(row["predicted"]), {"low", "expected", "high"})
            self.assertAlmostEqual(row["error"], row["predicted"]["expected"] / row["measured"] - 1)
        self.assertIs(answer["rows"][2]["measured"], True)
        self.assertEqual(answer["rows"][2]["error"], 0)
        self.assertEqual(len(answer["skipped"]), 1)
        self.assertEqual((answer["skipped"][0]["id"], answer["skipped"][0]["kind"]), ("b", "time"))
        self.assertEqual(answer["skipped"][0]["reason"], "seq_len: is not published")
        for series in ("time", "memory"):
            self.assertGreaterEqual(set(answer["summary"][series]),
                                    {"n", "mape", "median", "p90", "worst", "spearman", "coverage"})
            self.assertEqual(answer["summary"][series]["n"], 1)
        self.assertEqual(answer["summary"]["fit"], {"n": 1, "right": 1, "doubtful": 0})
        self.assertEqual(set(answer["by_source"]), {"runs"})
        self.assertEqual(answer["by_source"]["runs"]["time"], answer["summary"]["time"])

    def test_unread_keys_are_named_with_the_nearest(self):
        row = {"id": "a", "model": "gpt3-175b", "hardware": "A100-SXM-80GB", "gpus": 512, "seq_len": 2048,
               "global_batch": 512, "micro_batch": 1, "tp": 8, "pp": 8, "precision": "fp16", "zero_stge": 1,
               "weather": "good", "framework": "Megatron-LM", "measured": {"step_tim_s": 18.1}}
        rows = self.written("runs.json", json.dumps([row]))
        done = run("validate", "--rows", rows)
        self.assertEqual(done.returncode, 1)  # nothing was compared
        self.assertIn("nothing was measured that is predicted here", " ".join(done.stdout.split()))
        self.assertEqual(done.stderr.splitlines(), ["keys that are not read: measured/step_tim_s (nearest: step_time_s), weather, "
                                                    "zero_stge (nearest: zero_stage)"])
        answer = json.loads(run("validate", "--rows", rows, "--json").stdout)
        self.assertEqual(answer["unread_keys"], [{"key": "measured/step_tim_s", "nearest": "step_time_s"}, {"key": "weather"},
                                                 {"key": "zero_stge", "nearest": "zero_stage"}])
        document = {"format": "plumbline.rows/1", "name": "ours", "rows": [dict(row, id="b")]}
        self.refused(["validate", "--rows", self.written("own.json", json.dumps(document))], "step_tim_s", "step_time_s")

    def test_rates_are_measurements(self):
        row = {"model": "llama-3-8b", "hardware": "H100-SXM-80GB", "gpus": 8, "seq_len": 4096, "global_batch": 64,
               "micro_batch": 1, "tp": 2, "precision": "bf16", "framework": "NeMo (Megatron-Core)"}
        tokens = 64 * 4096
        plan = json.loads(run("estimate", "--model", "llama-3-8b", "--machine", "dgx-h100", "--gpus", "8", "--seq-len", "4096",
                              "--global-batch", "64", "--tp", "2", "--json").stdout)
        flops = plan["prediction"]["model_flops_per_step"]
        rates = [{"step_time_s": 4}, {"tokens_per_s_per_gpu": tokens / 32}, {"tokens_per_s": tokens / 4},
                 {"samples_per_s": 16}, {"tflops_per_gpu": flops / 32e12}]
        for rate in rates:
            with self.subTest(rate):
                rows = self.written("runs.json", json.dumps([dict(row, id="a", measured=rate)]))
                answer = json.loads(run("validate", "--rows", rows, "--json").stdout)["rows"]
                self.assertEqual([each["kind"] for each in answer], ["time"])
                self.assertAlmostEqual(answer[0]["measured"], 4, places=6)

    def test_a_node_holds_as_many_devices_as_its_run_says(self):
        row = {"id": "a", "model": "llama-3-8b", "hardware": "GH200-96GB", "gpus": 64, "seq_len": 4096, "global_batch": 256,
               "micro_batch": 1, "tp": 4, "precision": "bf16", "framework": "NeMo (Megatron-Core)", "measured": {"step_time_s": 2}}

        def answered(**more):
            rows = self.written("runs.json", json.dumps([dict(row, **more)]))
            return json.loads(run("validate", "--rows", rows, "--json").stdout)
        by_name = answered(machine="alps-gh200")["rows"][0]["predicted"]
        self.assertEqual(answered(gpus_per_node=4, machine="gh200")["rows"][0]["predicted"], by_name)
        self.assertGreater(answered(gpus_per_node=1, machine="gh200")["rows"][0]["predicted"]["expected"],
                           by_name["expected"])
        skipped = answered(gpus_per_node=3, machine="gh200")["skipped"]
        self.assertIn("gpus_per_node: is 3, and a node of gh200 has 1", skipped[0]["reason"])

    def test_published_rows_with_picture_and_report(self):
        picture, report = self.folder / "p.svg", self.folder / "r.md"
        done = run("validate", "--source", "zero_bubble,karpathy", "--device", "A100-SXM-80GB", "--plot", picture,
                   "--report", report)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("zero_bubble", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
        ElementTree.parse(picture)
        self.assertIn("![predicted against measured](p.svg)", report.read_text())
        self.assertIn("Jean Zay", run("validate", "--assumptions").stdout)
        self.assertEqual(run("validate", "--json").stdout, run("validate", "--json").stdout)

    def test_held_out_rows_have_sections_a_picture_and_a_summary_of_their_own(self):
        picture, report = self.folder / "b.svg", self.folder / "r.md"
        asked = ["validate", "--source", "karpathy,mlperf_v5_1_llama31_8b,public_reports_2026_11"]
        done = run(*asked, "--benchmark-plot", picture, "--report", report)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("step time, held out of fits", done.stdout)
        drawn = "".join(text.text or "" for text in ElementTree.parse(picture).iter() if text.tag.endswith("text"))
        self.assertIn("llama31_8b, B200-SXM-180GB", drawn)
        page = report.read_text()
        self.assertIn("![error over the number of GPUs](b.svg)", page)
        for section in ("Official benchmarks", "Public reports", "What is still wrong"):
            self.assertIn(f"\n## {section}\n", page)
        fitted = page[page.index("\n## Step time\n"):page.index("\n## Fits or not\n")]
        self.assertIn("karpathy", fitted)
        self.assertNotIn("mlperf", fitted)
        answer = json.loads(run(*asked, "--json").stdout)
        held_out = {row["source"] for row in answer["rows"] if row.get("held_out")}
        self.assertEqual(held_out, {"mlperf_v5_1_llama31_8b", "public_reports_2026_11"})
        counts = [answer[part]["time"]["n"] for part in ("summary_fitted", "summary_held_out", "summary")]
        self.assertEqual(counts[0] + counts[1], counts[2])
        self.assertEqual(counts[0], answer["by_source"]["karpathy"]["time"]["n"])

    def test_a_row_warns_as_an_estimate_does(self):
        row = {"id": "a", "model": "llama-3-8b", "hardware": "H100-SXM-80GB", "gpus": 8192, "seq_len": 8192, "global_batch": 8192,
               "micro_batch": 1, "tp": 2, "precision": "bf16", "framework": "NeMo (Megatron-Core)",
               "measured": {"step_time_s": 3}}
        rows = self.written("runs.json", json.dumps([row, dict(row, id="b", gpus=8, global_batch=64)]))
        far, near = json.loads(run("validate", "--rows", rows, "--json").stdout)["rows"]
        self.assertIn("8192 GPUs where at most", far["warning"])
        self.assertNotIn("GPUs where at most", near.get("warning", ""))
        estimated = run("estimate", "--model", "llama-3-8b", "--machine", "dgx-h100", "--gpus", "8192", "--seq-len", "8192",
                        "--global-batch", "8192", "--tp", "2", "--stack", far["stack"]).stdout
        gpus = far["warning"][far["warning"].index("8192 GPUs where"):].split(";")[0]
        self.assertIn(gpus, " ".join(estimated.split()))
        table = run("validate", "--rows", rows).stdout
        self.assertIn("measured near", table)
        self.assertIn("outside: in some respect outside of the runs", " ".join(table.split()))

    def test_a_framework_that_no_rule_names_is_unknown(self):
        row = {"id": "a", "model": "llama-3-8b", "hardware": "H100-SXM-80GB", "gpus": 8, "seq_len": 4096,
               "global_batch": 64, "micro_batch": 1, "tp": 2, "measured": {"step_time_s": 3}}
        rows = self.written("runs.json", json.dumps([dict(row, framework="Unheard-of"),
                                                     dict(row, id="b", framework="NeMo (Megatron-Core)")]))
        unknown, known = json.loads(run("validate", "--rows", rows, "--json").stdout)["rows"]
        self.assertEqual((unknown["stack"], unknown["regime"]), ("unknown-fused", "unknown"))
        self.assertEqual(known["regime"], "calibrated")
        width = [row["predicted"]["high"] / row["predicted"]["low"] for row in (unknown, known)]
        self.assertGreater(width[0], 1.1 * width[1])

    def test_every_verb_that_prices_says_what_is_unknown(self):
        asked = ["--model", "llama-3-8b", "--machine", "dgx-h100", "--gpus", "8", "--global-batch", "64", "--stack",
                 "unknown"]
        plan = self.folder / "plan.json"
        verbs = {"search": [*asked, "--top", "1"], "estimate": [*asked, "--tp", "2", "--out", plan],
                 "fit": [*asked, "--tp", "2"], "simulate": ["--plan", plan], "explain": ["--plan", plan],
                 "size": [*asked[:4], "--stack", "unknown", "--gpus", "8", "--global-batch", "64", "--tokens", "1B"]}
        for verb, words in verbs.items():
            with self.subTest(verb):
                done = run(verb, *words)
                self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: it does not fit
                self.assertIn("unknown: no run of this device or stack measured", " ".join(done.stdout.split()))
        against = run("explain", "--plan", plan, "--against", plan).stdout
        self.assertIn("unknown: no run of this device or stack measured", against)

    def test_mistakes_are_refused_in_one_line(self):
        self.refused(["validate", "--rows", "nowhere.json"], "nowhere.json")
        self.refused(["validate", "--rows", self.written("r.json", '[{"id": "a", "gpus": "8"}]')], "r.json:/0/gpus")
        self.refused(["validate", "--source", "zero_bubbles"], "--source", "nearest: zero_bubble")
        self.refused(["validate", "--device", "A100"], "--device")


if __name__ == "__main__":
    command.main()
