#!/usr/bin/env python3
"""What the module answers is what the command prints with --json, over questions that fit, do not fit and are wrong."""
import json
import math
import pathlib
import random
import tempfile
import unittest
import warnings

import command
import plumbline

SMALL = dict(model="llama-3-8b", machine="dgx-h100", gpus=8, seq_len=4096, global_batch=60)
STRATEGIES = [
    dict(SMALL, tp=2, zero=1),
    dict(SMALL, tp=2, sequence_parallel=True, recompute="full", flash_attention=False),
    dict(SMALL, gpus=6, pp=3, micro_batch=5, schedule="1f1b", split="balanced"),
    dict(SMALL, gpus=5, zero=3, precision="fp16", optimizer="lion", headroom="5%"),
    dict(SMALL, gpus=3, global_batch=66, lora_rank=16, tokens=15e9, price=2.5),
    dict(SMALL, gpus=16, pp=2, virtual_stages=2, schedule="interleaved", global_batch=64),
    dict(model="mixtral-8x7b", machine="dgx-a100-80g", gpus=16, global_batch=48, ep=4, zero=1),
    dict(model="gpt2", machine="rtx4090-pcie", gpus=1, global_batch=8, seq_len="1K"),
    dict(model="resnet-50", machine="dgx-h100", gpus=6, global_batch=384, micro_batch=64),
]
SEARCHES = [
    dict(SMALL, gpus=6, top=3),
    dict(SMALL, fix={"tp": 2, "zero": [0, 1]}, top=5, all=True, pareto=True, objective="memory"),
    dict(SMALL, precision=["bf16", "fp16"], flash_attention=[True, False], top=4, threads=1, for_="any"),
    dict(SMALL, gpus=2, model="llama-3-70b", top=2),
]


class Answers(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("error")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def test_estimates_and_fits_are_those_of_the_command(self):
        for question in STRATEGIES:
            with self.subTest(question):
                expected = command.answer("estimate", **question)
                self.assertEqual(plumbline.estimate(**question).to_dict(), expected)
                fit = plumbline.fit(**question)
                fitted = command.answer("fit", **question)
                self.assertEqual(fit.to_dict(), fitted)
                self.assertEqual(json.loads(fit.to_json()), fitted)
                self.assertEqual([one.change for one in fit.changes], [one["change"] for one in fitted["offers"]["changes"]])
                self.assertEqual(len(fit.remedies), len(fitted["offers"]["remedies"]))
                self.assertEqual(bool(fit), command.run("fit", **question).returncode == 0)

    def test_random_strategies_are_answered_or_refused_alike(self):
        draw = random.Random(52)
        outcomes = {"answered": 0, "refused": 0}
        for _ in range(60):
            degrees = {name: draw.choice([1, 1, 1, 2, 3, 5, 6]) for name in ("dp", "tp", "pp", "cp")}
            micro_batch = draw.choice([1, 2, 3, 5])
            question = dict(SMALL, **degrees, gpus=math.prod(degrees.values()), zero=draw.choice([0, 1, 2, 3]),
                            micro_batch=micro_batch, global_batch=degrees["dp"] * micro_batch * draw.choice([1, 2, 3, 6]))
            with self.subTest(question):
                try:
                    found = plumbline.estimate(**question).to_dict()
                except plumbline.InputError as error:
                    outcomes["refused"] += 1
                    self.assertEqual(str(error), command.refusal("estimate", **question))
                else:
                    outcomes["answered"] += 1
                    self.assertEqual(found, command.answer("estimate", **question))
        self.assertGreater(min(outcomes.values()), 5, outcomes)

    def test_searches_are_those_of_the_command(self):
        for question in SEARCHES:
            with self.subTest(question):
                found = plumbline.search(**question)
                expected = command.answer("search", **question)
                self.assertEqual(found.to_dict(), expected)
                self.assertEqual([plan.to_dict() for plan in found], expected["plans"])
                self.assertTrue(found.complete)
                self.assertEqual(found.best is None, not expected["plans"])

    def test_several_values_are_one_answer_as_of_the_command(self):
        for question in (dict(SMALL, gpus=[6, 8], global_batch=[60, 120]), dict(SMALL, gpus=8, stack="all")):
            with self.subTest(question):
                found = plumbline.search(**question)
                expected = command.answer("search", **question)
                self.assertEqual(found.to_dict(), expected)
                plans = [row["plan"] for row in expected["rows"] if row["plan"]]
                self.assertGreaterEqual(len(plans), 4)
                self.assertEqual([plan.to_dict() for plan in found], plans)
                part = "stack" if "stack" in question else "gpus"
                self.assertEqual([row["asked_" + part] for row in found.to_rows()],
                                 [row["values"][part] for row in expected["rows"] if row["plan"]])

    def test_that_nothing_fits_is_a_value_with_the_nearest(self):
        found = plumbline.search(**SEARCHES[-1])
        self.assertEqual(len(found), 0)
        self.assertFalse(found.nearest_miss.fits)
        plan = plumbline.fit(**SMALL, tp=4, micro_batch=30)
        self.assertFalse(plan.fits)
        self.assertFalse(plan)
        self.assertIn("GiB", plan.reason)
        self.assertTrue(plan.changes)
        for change in plan.changes:
            self.assertTrue(change.plan.fits)
        steps = [change.plan.step_time_s.expected for change in plan.changes]
        self.assertEqual(steps, sorted(steps))

    def test_limits_explanations_simulations_and_sizes_are_those_of_the_command(self):
        limits = dict(model="gpt2", machine="rtx4090-pcie", gpus=2, family="gpt2", zero=1)
        self.assertEqual(plumbline.fit_limits(**limits).to_dict(), command.answer("fit", **limits))
        for question in STRATEGIES[0], STRATEGIES[2], STRATEGIES[5]:
            with self.subTest(question):
                self.assertEqual(plumbline.explain(**question).to_dict(), command.answer("explain", **question))
                self.assertEqual(plumbline.simulate(**question).to_dict(), command.answer("simulate", **question))
        slow = dict(STRATEGIES[2], stage_speed={2: 0.5}, by_block=True)
        self.assertEqual(plumbline.simulate(**slow).to_dict(), command.answer("simulate", **slow))
        run = dict(model="gpt2", machine="dgx-h100", global_batch=480, tokens="10B", gpus=[3, 6], days=30, scaling="both")
        self.assertEqual(plumbline.size(**run).to_dict(), command.answer("size", **run))

    def test_comparisons_are_those_of_the_command_and_have_parts_of_a_device_where_a_record_has(self):
        plan = plumbline.estimate(model="nano-gpt", machine="this-computer", gpus=1, seq_len=32, global_batch=2, stack="plumbline")
        plan_file, record = self.path("plan.json"), self.path("record.json")
        plan.save(plan_file)
        done = command.run("run", plan=plan_file, steps=3, record=record)
        self.assertEqual(done.returncode, 0, done.stderr)
        on_host = plumbline.compare(plan_file, record)
        self.assertEqual(on_host.to_dict(), command.answer("compare", plan=plan_file, measured=record))
        self.assertIsNone(on_host.device_memory_table())
        of_gpu = json.loads(pathlib.Path(record).read_text(encoding="utf-8"))
        of_gpu["ranks"][0]["memory"]["device"] = {"parts": {"context": 600_000_000, "other": 5}, "device_peak_bytes": 600_000_005,
                                                  "trials_bytes": 0, "ranks_on_device": 1}
        pathlib.Path(record).write_text(json.dumps(of_gpu), encoding="utf-8")
        compared = plumbline.compare(plan_file, record)
        self.assertEqual(compared.to_dict(), command.answer("compare", plan=plan_file, measured=record))
        measured = {row["part"]: row["measured"] for row in compared.device_memory_table().to_rows()}
        self.assertEqual((measured["context"], measured["other"], measured["total"]), (600_000_000, 5, 600_000_005))
        self.assertIn("the plan does not predict: context, other", str(compared))

    def runs_file(self):
        """Three runs of one model whose steps are 1.1 times what ships predicts."""
        rows = []
        for number, (nodes, micro_batch) in enumerate(((1, 1), (2, 3), (4, 1))):
            row = {"id": f"run-{number}", "model": "llama-3-8b", "hardware": "H100-SXM-80GB", "gpus": 8 * nodes, "gpus_per_node": 8,
                   "seq_len": 4096, "global_batch": 40 * nodes * micro_batch, "micro_batch": micro_batch, "tp": 1, "pp": 1,
                   "zero_stage": 3, "recompute": "full", "precision": "bf16", "framework": "torchtitan",
                   "release": "2024.12", "compile": True, "measured": {"step_time_s": 5.0}}
            rows.append(row)
        path = self.path("my_runs.json")
        pathlib.Path(path).write_text(json.dumps(rows), encoding="utf-8")
        predicted = {row["id"]: row["predicted"]["expected"] for row in command.answer("validate", rows=path)["rows"]}
        for row in rows:
            row["measured"]["step_time_s"] = 1.1 * predicted[row["id"]]
        pathlib.Path(path).write_text(json.dumps(rows), encoding="utf-8")
        return path

    def test_validations_and_calibrations_are_those_of_the_command(self):
        path = self.runs_file()
        seen = []
        validation = plumbline.validate(path, progress=lambda *now: seen.append(now))
        self.assertEqual(validation.to_dict(), command.answer("validate", rows=path))
        done = [now[1] for now in seen]  # Python polls: it may miss some reports, but never the last
        self.assertEqual({(now[0], now[2]) for now in seen}, {("runs", 3)})
        self.assertEqual(done, sorted(set(done)))
        self.assertEqual(done[-1], 3)
        self.assertAlmostEqual(validation.summary.time.mape, 1 - 1 / 1.1, places=6)
        self.assertEqual(validation.to_rows()[-1]["n"], 3)
        calibration = plumbline.calibrate(path, name="mine")
        self.assertEqual(calibration.to_dict(), command.answer("calibrate", rows=path, name="mine"))
        self.assertLess(calibration.mean_error.fitted, calibration.mean_error.shipped)
        stack = self.path("mine.json")
        calibration.save(stack)
        again = plumbline.estimate(**dict(STRATEGIES[0], stack=stack))
        self.assertEqual(again.to_dict(), command.answer("estimate", **dict(STRATEGIES[0], stack=stack)))
        self.assertEqual(again.provenance.stack_calibration, stack)
        with self.assertRaises(plumbline.InputError) as caught:
            plumbline.calibrate(path, device="H100-SXM-80G")
        self.assertEqual(caught.exception.nearest, "H100-SXM-80GB")

    def test_catalogues_are_those_of_the_command(self):
        for verb, ask, name in (("models", plumbline.models, "gpt2"), ("machines", plumbline.machines, "dgx-h100"),
                                ("stacks", plumbline.stacks, "megatron-core-0.12")):
            self.assertEqual(ask().to_list(), command.answer(verb))
            self.assertEqual(ask(name).to_dict(), command.answer(verb, name))

    def test_a_saved_plan_is_read_by_both_and_asked_about_further(self):
        found = plumbline.search(**SEARCHES[0])
        path = self.path("plan.json")
        found.best.save(path)
        for verb, ask in (("estimate", plumbline.estimate), ("explain", plumbline.explain), ("simulate", plumbline.simulate)):
            expected = command.answer(verb, plan=path)
            self.assertEqual(ask(plan=path).to_dict(), expected)
            self.assertEqual(ask(plan=found.best).to_dict(), expected)
        other = self.path("other.json")
        found[1].save(other)
        self.assertEqual(plumbline.explain(plan=found.best, against=found[1]).to_dict(),
                         command.answer("explain", plan=path, against=other))
        again = dict(plan=path, tokens="1T", headroom="2GiB")
        self.assertEqual(plumbline.estimate(**dict(again, plan=found.best)).to_dict(), command.answer("estimate", **again))

    def test_launch_files_are_exported_and_imported_as_by_the_command(self):
        plan = plumbline.estimate(**dict(SMALL, global_batch=64), tp=2, pp=2, zero=1)
        path = self.path("plan.json")
        plan.save(path)
        for target in ("megatron-lm", "deepspeed", "torchtitan", "accelerate", "pytorch"):
            with self.subTest(target):
                written = plumbline.export(plan, to=target)
                ours = written.write(self.path(f"ours-{target}"))
                theirs = self.path(f"theirs-{target}")
                done = command.run("export", plan=path, to=target, out=theirs)
                self.assertEqual(done.returncode, 0, done.stderr)
                expected = {file.name: file.read_text() for file in pathlib.Path(theirs).iterdir()}
                self.assertEqual(written.files, expected)
                self.assertEqual({pathlib.Path(file).name: pathlib.Path(file).read_text() for file in ours}, expected)
                self.assertEqual([pathlib.Path(file).stat().st_mode & 0o100 for file in sorted(ours)],
                                 [file.stat().st_mode & 0o100 for file in sorted(pathlib.Path(theirs).iterdir())])
                self.assertEqual(done.stderr.count("; nearest: "), len(written.substitutions))
        script = str(pathlib.Path(self.path("ours-megatron-lm")) / "arguments.sh")
        scripts = sorted(map(str, pathlib.Path(self.path("ours-megatron-lm")).glob("*.sh")))
        script = script if script in scripts else scripts[0]
        read = plumbline.import_files(script, from_="megatron-lm", gpus=8)
        self.assertEqual(read.to_dict(), command.answer("import", script, from_="megatron-lm", gpus=8))
        asked = dict(import_=script, from_="megatron-lm", machine="dgx-h100", gpus=8)
        with self.assertWarns(plumbline.PlumblineWarning):  # on flags that change neither memory nor time
            fit = plumbline.fit(**asked)
        self.assertEqual(fit.to_dict(), command.answer("fit", **asked))
        self.assertEqual(plumbline.fit(**read.arguments, machine="dgx-h100").strategy.tensor_parallel, 2)

    def test_strict_exports_refuse_what_a_framework_cannot_launch(self):
        plan = plumbline.estimate(**dict(SMALL, gpus=4, global_batch=64), pp=4, schedule="zbv", virtual_stages=2)
        lax = plumbline.export(plan, to="megatron-lm")
        self.assertTrue(lax.substitutions and lax.files and lax.nearest)
        with self.assertRaises(plumbline.InputError) as refused:
            plumbline.export(plan, to="megatron-lm", strict=True)
        self.assertIn(lax.substitutions[0].sentence, str(refused.exception))
        gradients = plumbline.estimate(**dict(SMALL, gpus=4, global_batch=64, gradient_precision="fp32"), zero=2)
        self.assertTrue(plumbline.export(gradients, to="lightning").not_said)
        with self.assertRaises(plumbline.InputError):
            plumbline.export(gradients, to="lightning", strict=True)

    def test_launch_files_are_shown_as_text_table_and_html(self):
        exported = plumbline.export(plumbline.estimate(**dict(SMALL, global_batch=64), tp=2), to="megatron-lm")
        self.assertIn("arguments.txt", str(exported))
        self.assertIn("arguments.txt", repr(exported))
        self.assertIn("<td>launch.sh</td>", exported._repr_html_())
        self.assertEqual({row["file"] for row in exported.to_rows()}, set(exported.files))
        paths = exported.write(self.path("shown"))
        imported = plumbline.import_files(next(path for path in paths if path.endswith("launch.sh")), from_="megatron-lm")
        self.assertIn({"flag": "--tp", "value": "2"}, imported.to_rows())
        self.assertIn("--tp", str(imported))
        self.assertIn("--tp", repr(imported))
        self.assertIn("<td>--tp</td>", imported._repr_html_())


if __name__ == "__main__":
    unittest.main()
