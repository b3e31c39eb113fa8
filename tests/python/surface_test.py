#!/usr/bin/env python3
"""The module's arguments are the command's flags; stubs and tables name what there is; pandas reads the rows."""
import ast
import builtins
import importlib.util
import inspect
import json
import pathlib
import pickle
import re
import subprocess
import sys
import unittest

import command
import plumbline
from plumbline import _native
from plumbline._errors import argument_name

QUESTION = dict(model="llama-3-8b", machine="dgx-h100", gpus=6, global_batch=60)
# What a terminal has and a module has not, and a function that has a verb's mode.
OUTPUT = {"--json", "--out", "--force", "--stats", "--help", "--ranks", "--trace", "--picture", "--schedule-csv", "--instructions"}
VERBS = {"search": "search", "estimate": "estimate", "fit": "fit", "explain": "explain", "simulate": "simulate",
         "size": "size", "import_files": "import", "validate": "validate", "calibrate": "calibrate", "run": "run"}
# `--rows` is the files that are named; fits of kernels, links and of what ships are maintenance.
OTHERWISE = {"fit": {"--family"}, "search": {"--around", "--import", "--from", "--changes"},
             # Files are made of the record.
             "run": {"--record", "--describe", "--beside", "--track"},
             "validate": {"--rows", "--plot", "--benchmark-plot", "--report", "--assumptions"},
             "calibrate": {"--rows", "--all", "--cross-validate", "--by-question", "--folds", "--fold", "--backend", "--brief",
                           "--kernels", "--kernels-out", "--machine", "--collectives"}}
# What has the name of an output and is none.
INPUT = {"run": {"--ranks"}}
STUB = pathlib.Path(plumbline.__file__).with_name("__init__.pyi")


def flags_of(verb):
    text = subprocess.run([command.PLAN, verb, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ +(?:-\w, ?)?(--[a-z][a-z0-9-]*)", text, re.M))


class Surface(unittest.TestCase):
    def test_every_flag_of_a_verb_is_an_argument_and_no_other(self):
        for function, verb in VERBS.items():
            with self.subTest(verb):
                expected = flags_of(verb) - (OUTPUT - INPUT.get(function, set())) - OTHERWISE.get(function, set())
                ours = {option["flag"] for option in _native.options(function)}
                self.assertEqual(ours - {"--plan", "--import"}, expected - {"--plan", "--import"})
                parameters = inspect.signature(getattr(plumbline, function)).parameters
                self.assertLessEqual({argument_name(flag) for flag in expected}, set(parameters))

    def test_the_stub_types_every_function_argument_and_attribute(self):
        tree = ast.parse(STUB.read_text(encoding="utf-8"))
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        for name in plumbline.__all__:
            value = getattr(plumbline, name)
            if inspect.isfunction(value):
                arguments = functions[name].args
                typed = {one.arg for one in arguments.args + arguments.kwonlyargs} | ({arguments.vararg.arg} if arguments.vararg else set())
                self.assertEqual(typed, set(inspect.signature(value).parameters), name)
            else:
                self.assertIn(name, classes)
        self.check_attributes(classes, "Plan", plumbline.estimate(**QUESTION, tokens="1T"))
        self.check_attributes(classes, "Search", plumbline.search(**QUESTION, top=2))
        self.check_attributes(classes, "Explanation", plumbline.explain(**QUESTION))
        self.check_attributes(classes, "Simulation", plumbline.simulate(**QUESTION))
        self.check_attributes(classes, "FitLimits", plumbline.fit_limits(model="gpt2", machine="dgx-h100", gpus=1))
        self.check_attributes(classes, "Size", plumbline.size(**dict(QUESTION, gpus=[3]), tokens="1B"))

    def test_the_stub_is_whole_and_names_only_types_that_it_declares(self):
        text = STUB.read_text(encoding="utf-8")
        self.assertNotIn("**arguments", text)
        tree = ast.parse(text)
        declared = set(dir(builtins))
        for node in tree.body:
            declared |= {one.asname or one.name for one in getattr(node, "names", ())}
            declared |= {one.id for one in getattr(node, "targets", ())} | {getattr(node, "name", "")}
        for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
            arguments = function.args
            self.assertIsNone(arguments.kwarg, function.name)
            self.assertEqual(len(arguments.kwonlyargs), len({one.arg for one in arguments.kwonlyargs}), function.name)
            for one in arguments.args + arguments.kwonlyargs:
                names = {node.id for node in ast.walk(one.annotation) if isinstance(node, ast.Name)}
                self.assertLessEqual(names, declared, f"{function.name}: {one.arg}")

    def test_arguments_take_what_their_flags_take(self):
        expected = {"estimate": {"gpus": "_Count", "tokens": "_Amount", "model": "_Path", "precision": "str", "tp_across_nodes": "bool",
                                 "zero": "_Count", "prefetch": "bool", "recompute": "str", "layers_per_stage": "_List",
                                 "dim": "str | Mapping[str, int]", "flash_attention": "bool"},
                    "search": {"gpus": "_List", "model": "_Path | Sequence[_Path]", "stack": "_Path | Sequence[_Path]",
                               "seq_len": "_List", "precision": "_List", "gradient_precision": "str", "time_limit": "str",
                               "flash_attention": "bool | _List", "fix": "str | Mapping[str, object]", "top": "_Count"},
                    "size": {"gpus": "_List", "model": "_Path", "seq_len": "_Count", "lora_rank": "_List", "budget": "_Amount"},
                    "simulate": {"order_csv": "_Path", "stage_speed": "str | Mapping[int, float]", "by_block": "bool"},
                    "run": {"steps": "_Count", "data": "_Path", "learning_rate": "_Amount", "beta1": "_Amount", "graph": "bool",
                            "lr_schedule": "str", "checkpoint": "_Path", "override": "_List", "ranks": "str"}}
        tree = ast.parse(STUB.read_text(encoding="utf-8"))
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        for function, arguments in expected.items():
            typed = {one.arg: ast.unparse(one.annotation) for one in functions[function].args.kwonlyargs}
            for argument, kind in arguments.items():
                self.assertEqual(typed[argument], f"{kind} | None", f"{function}: {argument}")

    def check_attributes(self, classes, name, value):
        """Every attribute in the stub exists in the answer, and every key of the answer has a type in the stub."""
        typed = {node.target.id: ast.unparse(node.annotation) for node in classes[name].body if isinstance(node, ast.AnnAssign)}
        properties = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)}
        for attribute, kind in typed.items():
            with self.subTest(f"{name}.{attribute}"):
                found = getattr(value, attribute)
                if kind != "Record" and kind in classes and isinstance(found, plumbline.Record):
                    self.check_attributes(classes, kind, found)
        self.assertLessEqual(set(value.to_dict()), set(typed) | properties, name)

    def test_rows_have_the_columns_that_tables_have(self):
        found = plumbline.search(**QUESTION, top=5)
        rows = found.to_rows()
        self.assertEqual([row["rank"] for row in rows], list(range(1, len(found) + 1)))
        for row, plan in zip(rows, found):
            self.assertEqual(row["tensor_parallel"], plan.strategy.tensor_parallel)
            self.assertEqual(row["devices"], 6)
            self.assertAlmostEqual(row["mfu"], 100 * plan.prediction.mfu)
            self.assertIs(row["fits"], True)
            self.assertIsNone(row["images"])
        self.assertEqual({tuple(row) for row in rows}, {tuple(rows[0])})
        plan = found.best
        total = plan.memory_table().to_rows()[-1]
        self.assertAlmostEqual(total[f"stage_{0}"] * 2**30, plan.prediction.stage_peak_memory_bytes[0], delta=1)
        for shown in found, plan, plan.time_table(), plumbline.models(), plumbline.explain(plan=plan):
            self.assertIn("<table>", shown._repr_html_())
            self.assertTrue(str(shown))
        self.assertIn("llama-3-8b", plan._repr_html_())

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "SKIPPED LOUDLY: pandas is not installed here")
    def test_pandas_reads_rows(self):
        import pandas

        frame = pandas.DataFrame(plumbline.search(**QUESTION, top=5).to_rows())
        self.assertEqual(len(frame), 5)
        self.assertTrue(pandas.api.types.is_numeric_dtype(frame["step_time"]))
        self.assertTrue(pandas.api.types.is_integer_dtype(frame["tensor_parallel"]))

    def test_answers_do_not_change_and_records_are_values(self):
        plan = plumbline.estimate(**QUESTION)
        with self.assertRaises(AttributeError):
            plan.fits = True
        with self.assertRaises(AttributeError) as caught:
            plan.strategy.tensor_paralel
        self.assertIn("tensor_parallel", str(caught.exception))
        copy = plan.to_dict()
        copy["strategy"]["tensor_parallel"] = 99
        self.assertEqual(plan.strategy.tensor_parallel, 1)
        self.assertIn("tensor_parallel", dir(plan.strategy))
        self.assertEqual(pickle.loads(pickle.dumps(plan.strategy)), plan.strategy)
        self.assertEqual(json.loads(json.dumps(plan.to_dict())), plan.to_dict())

    def test_the_module_brings_what_it_needs(self):
        self.assertTrue(STUB.with_name("py.typed").exists())
        self.assertEqual(plumbline.__version__, subprocess.run(
            [command.PLAN, "--version"], capture_output=True, text=True, check=True).stdout.split()[1])
        self.assertNotIn("numpy", subprocess.run([sys.executable, "-c", "import plumbline, sys; print(*sys.modules)"],
                                                 capture_output=True, text=True, check=True).stdout.split())


if __name__ == "__main__":
    unittest.main()
