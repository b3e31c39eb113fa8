#!/usr/bin/env python3
"""Each deliberate violation must be refused with its rule, each lawful include let through, and the real tree pass."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# (file, its include, words of the refusal)
REFUSED = [
    ("core/graph/graph.h", '"models/catalogue.h"', "core (floor 0) may not include models (floor 1)"),
    ("models/catalogue.cpp", '"planner/search/search.h"', "models (floor 1) may not include planner (floor 2)"),
    ("planner/search/search.cpp", '"runtime/executor.h"', "planner (floor 2) may not include runtime (floor 2)"),
    ("runtime/executor.cpp", '"planner/search/search.h"', "runtime (floor 2) may not include planner (floor 2)"),
    ("runtime/run/trainer.cpp", '"jobs/training_job.h"', "runtime (floor 2) may not include jobs (floor 2.5)"),
    ("planner/search/search.cpp", '"jobs/training_job.h"', "planner (floor 2) may not include jobs (floor 2.5)"),
    ("jobs/run_in_process.cpp", '"cli/main.h"', "jobs (floor 2.5) may not include cli (floor 3)"),
    ("planner/search/search.cpp", '"cli/main.h"', "planner (floor 2) may not include cli (floor 3)"),
    ("cli/main.cpp", '"gui/session/session.h"', "cli (floor 3) may not include gui (floor 3)"),
    ("core/cost/flops.cpp", '"kernels/gemm.h"', "core (floor 0) may not include kernels (floor 0)"),
    ("kernels/gemm.cpp", '"core/graph/graph.h"', "kernels (floor 0) may not include core (floor 0)"),
    ("core/graph/graph.cpp", "<models/catalogue.h>", "core (floor 0) may not include models (floor 1)"),
    ("core/base/errors.cpp", '"core/quantity/text.h"', "core/base may not include core/quantity"),
    ("core/graph/graph.cpp", '"core/machine/cluster.h"', "core/graph may not include core/machine"),
    ("core/machine/cluster.cpp", '"core/graph/graph.h"', "core/machine may not include core/graph"),
    ("core/training/recipe.cpp", '"core/plan/plan.h"', "core/training may not include core/plan"),
    ("core/plan/plan.cpp", '"core/program/lower.h"', "core/plan may not include core/program"),
    ("core/program/lower.cpp", '"core/cost/flops.h"', "core/program may not include core/cost"),
    ("core/cost/flops.cpp", '"core/simulate/simulate.h"', "core/cost may not include core/simulate"),
    ("core/simulate/simulate.cpp", '"core/io/json.h"', "core/simulate may not include core/io"),
    ("core/graph/graph.cpp", '"core/misc/x.h"', "is in no folder of core/ that has a floor"),
    ("core/cost/flops.cpp", '"tests/catch.h"', "looks at it from outside"),
    ("planner/search/search.cpp", '"bench/bench.h"', "looks at it from outside"),
    ("core/plan/plan.cpp", "<nlohmann/json.hpp>", "the JSON parser may only be included in"),
    ("planner/search/search.cpp", "<nlohmann/json.hpp>", "the JSON parser may only be included in"),
    ("planner/frameworks/framework.cpp", "<yaml-cpp/parser.h>", "the YAML parser may only be included in"),
    ("core/io.cpp", "<nlohmann/json.hpp>", "the JSON parser may only be included in"),
    ("core/io/json.cpp", "<boost/graph/adjacency_list.hpp>", "Boost may only be included in"),
    ("cli/main.cpp", "<boost/format.hpp>", "Boost may only be included in"),
    ("planner/search/search.cpp", "<CLI/CLI.hpp>", "CLI11 may only be included in cli"),
    ("cli/main.cpp", "<QString>", "Qt may only be included in gui"),
    ("cli/main.cpp", "<QtCore/QString>", "Qt may only be included in gui"),
    ("gui/view/window.cpp", "<QtWidgets>", "include the classes that are used"),
    ("gui/view/window.cpp", "<QtWidgets/QtWidgets>", "include the classes that are used"),
    ("runtime/executor.cpp", "<cuda_runtime.h>", "CUDA may only be included in"),
    ("kernels/gemm.cpp", "<cublasLt.h>", "CUDA may only be included in"),
    ("runtime/mpi/communicator.cpp", "<nccl.h>", "CUDA may only be included in"),
    ("runtime/nccl/communicator.cpp", "<mpi.h>", "MPI may only be included in runtime/mpi"),
    ("core/plan/plan.cpp", '"verdict.h"', "from the root of the repository"),
    ("core/plan/plan.cpp", '"../graph/graph.h"', "from the root of the repository"),
]

LAWFUL = [
    ("core/graph/graph.h", '"core/graph/op.h"'),
    ("core/graph/graph.cpp", "<boost/graph/adjacency_list.hpp>"),
    ("core/quantity/text.cpp", '"core/base/errors.h"'),
    ("core/cost/program_cost.cpp", '"core/program/program.h"'),
    ("core/io/json.cpp", "<nlohmann/json.hpp>"),
    ("core/io/plan/write.cpp", "<nlohmann/json.hpp>"),
    ("models/import/hugging_face.cpp", "<nlohmann/json.hpp>"),
    ("planner/frameworks/syntax/yaml.cpp", "<yaml-cpp/parser.h>"),
    ("models/catalogue.cpp", '"core/io/json.h"'),
    ("kernels/gemm.cpp", '"core/quantity/number_format.h"'),
    ("runtime/executor.cpp", '"kernels/gemm.h"'),
    ("planner/search/search.cpp", '"models/catalogue.h"'),
    ("jobs/run_in_process.cpp", '"planner/session/estimate.h"'),
    ("jobs/run_in_process.cpp", '"runtime/run/trainer.h"'),
    ("gui/pages/run/run_page.cpp", '"jobs/run_in_process.h"'),
    ("kernels/cuda/gemm.cu", "<cuda_runtime.h>"),
    ("runtime/mpi/communicator.cpp", "<mpi.h>"),
    ("gui/view/window.cpp", "<QMainWindow>"),
    ("gui/view/window.cpp", '"window.moc"'),
    ("cli/main.cpp", "<CLI/CLI.hpp>"),
    ("cli/main.cpp", '"planner/search/search.h"'),
    ("cli/main.cpp", "<cstdio>"),
]

LIBRARIES = ("core", "kernels", "models", "planner", "runtime", "jobs", "cli", "gui", "capi", "python", "tests", "bench")


def check(root):
    run = subprocess.run([sys.executable, HERE / "include_floors.py", root], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def check_tree_with(file, include):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for library in LIBRARIES:
            (root / library).mkdir()
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#pragma once\n#  include {include}\n", encoding="utf-8")
        return check(root)


class IncludeFloors(unittest.TestCase):
    def test_each_violation_is_refused_with_its_rule(self):
        for file, include, words in REFUSED:
            with self.subTest(file=file, include=include):
                code, text = check_tree_with(file, include)
                self.assertEqual(code, 1, text)
                self.assertIn(f"{file}:2: includes", text)
                self.assertIn(words, text)

    def test_lawful_includes_pass(self):
        for file, include in LAWFUL:
            with self.subTest(file=file, include=include):
                self.assertEqual(check_tree_with(file, include), (0, "every include points down\n"))

    def test_folders_that_need_each_other_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file, include in (("planner/a/x.h", "planner/b/y.h"), ("planner/b/z.h", "planner/c/u.h"),
                                  ("planner/c/v.h", "planner/a/w.h"), ("planner/a/w.h", "planner/d/s.h")):
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(f'#include "{include}"\n', encoding="utf-8")
            code, text = check(root)
            self.assertEqual(code, 1, text)
            self.assertEqual(len(text.splitlines()), 3, text)
            for line in ("planner/a/x.h:1: includes planner/b/y.h: folders in a circle", "planner/b/z.h:1", "planner/c/v.h:1"):
                self.assertIn(line, text)
            (root / "planner/c/v.h").unlink()
            self.assertEqual(check(root), (0, "every include points down\n"))

    def test_the_real_tree_passes(self):
        code, text = check(ROOT)
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    unittest.main()
