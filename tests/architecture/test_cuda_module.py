#!/usr/bin/env python3
"""CI compiles what runs on a GPU: files that take long, a module that cannot be loaded and a missing compiler are told apart."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("cuda_module", ROOT / ".ci/cuda_module.py")
cuda_module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cuda_module)

LOG = "90.0 norms.cu\n12.5 norms.cu\n61.0 cudnn_of_system.cpp\n"


def module(problem, cudnn_problem=None):
    return {"problem": problem, "cudnn_problem": cudnn_problem}


class CudaModule(unittest.TestCase):
    def test_the_last_time_of_each_file_counts(self):
        self.assertEqual(cuda_module.compile_times(LOG), {"norms.cu": 12.5, "cudnn_of_system.cpp": 61})

    def test_a_compiler_s_processor_time_is_noted_where_it_ends_well(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "times.txt")
            for code, burn in ((0, "sum(range(3 * 10**6))"), (3, "0")):
                run = [sys.executable, "-c", f"import sys; {burn}; sys.exit({code})", "-c", "a/norms.cu"]
                done = subprocess.run([sys.executable, ROOT / ".ci/compile_time.py", log, *run], check=False)
                self.assertEqual(done.returncode, code)
            times = cuda_module.compile_times(log.read_text(encoding="utf-8"))
        self.assertEqual(list(times), ["norms.cu"])
        self.assertTrue(0 < times["norms.cu"] < 60)

    def test_a_file_that_takes_long_is_named_but_for_cudnn(self):
        self.assertEqual(cuda_module.long_files(cuda_module.compile_times(LOG)), [])
        self.assertEqual(cuda_module.long_files({"norms.cu": 61, "cudnn_of_system.cpp": 61}),
                         ["norms.cu takes 61 s to compile; at most 60 s are wanted"])

    def test_a_module_that_cannot_be_loaded_or_lacks_cudnn_is_a_problem(self):
        self.assertEqual(cuda_module.load_problem(module(None, "libcudnn.so.9: cannot open"), True), "")
        self.assertIn("undefined symbol", cuda_module.load_problem(module("m.so: undefined symbol: x"), False))
        without = module(None, "the module was built without cudnn.h")
        self.assertIn("expected attention by cuDNN", cuda_module.load_problem(without, True))
        self.assertEqual(cuda_module.load_problem(without, False), "")

    def test_without_nvcc_there_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(cuda_module.found_nvcc([folder]))
            compiler = pathlib.Path(folder, "nvcc")
            compiler.write_text("#!/bin/sh\n", encoding="utf-8")
            compiler.chmod(0o755)
            self.assertEqual(cuda_module.found_nvcc([folder]), str(compiler))

    def test_the_preset_builds_both_and_refuses_spills(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        build = next(one for one in presets["buildPresets"] if one["name"] == "cuda")
        self.assertTrue({"plumbline_cuda", "device_kernels_bench", "kernels_gpu_tests"} <= set(build["targets"]))
        configure = next(one for one in presets["configurePresets"] if one["name"] == "cuda")
        self.assertEqual(ROOT / configure["binaryDir"].removeprefix("${sourceDir}/"), cuda_module.FOLDER)
        self.assertTrue(configure["cacheVariables"]["PLUMBLINE_CUDA_LAUNCHER"].endswith(f"/{cuda_module.TIMES.relative_to(ROOT)}"))
        self.assertIn("--warn-on-spills,--warning-as-error", configure["cacheVariables"]["CMAKE_CUDA_FLAGS"])

    def test_ci_asks(self):
        self.assertIn(".ci/cuda_module.py", (ROOT / ".ci/run").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
