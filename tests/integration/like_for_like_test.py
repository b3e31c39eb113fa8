#!/usr/bin/env python3
"""scripts/compare_pytorch.py: what it takes of a plan and a checkpoint, when losses differ, and PyTorch's own losses where it is.

Usage: like_for_like_test.py <plan>
"""
import array
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import command
from command import run
from training import Training

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/compare_pytorch.py"
sys.path.insert(0, str(SCRIPT.parent))
spec = importlib.util.spec_from_file_location("compare_pytorch", SCRIPT)
compare_pytorch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare_pytorch)
HAS_TORCH = importlib.util.find_spec("torch") is not None
GPT2 = {"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 64, "vocab_size": 256, "n_positions": 64, "resid_pdrop": 0.0,
        "embd_pdrop": 0.0, "attn_pdrop": 0.0}
LLAMA = {"num_hidden_layers": 2, "num_key_value_heads": 2}


class Tensors:
    """As much of torch as a file of tensors needs."""
    float32, bfloat16, float16 = "fp32", "bf16", "fp16"

    @staticmethod
    def frombuffer(data, dtype):
        class Tensor:
            def reshape(self, shape):
                return (dtype, tuple(shape), len(data))
        return Tensor()


class LikeForLike(Training):
    def started(self, model, precision, *flags):
        """A plan, the record of three steps, and where the checkpoint of the first weights is."""
        if model.get("model_type") == "gpt2":
            config = self.written("gpt.json", json.dumps(model))
            plan = self.folder / "plan.json"
            done = run("estimate", "--model", config, "--machine", "this-computer", "--gpus", 1, "--seq-len", 16, "--global-batch", 4,
                       "--micro-batch", 2, "--precision", precision, *flags, "--out", plan)
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            plan = self.plan_of("--micro-batch", 2, *flags, gpus=1, model=model, sequence=16, batch=4, precision=precision)
        shutil.rmtree(self.folder / "start", ignore_errors=True)
        (self.folder / "tokens").write_bytes(array.array("I", [(7 * i * i + i // 5) % 256 for i in range(2000)]).tobytes())
        words = ["run", "--plan", plan, "--data", "tokens", "--data-format", "u32", "--held-out", 0, "--generate", 0]
        for more in (["--steps", 1, "--learning-rate", 0, "--checkpoint", "start"],
                     ["--steps", 3, "--learning-rate", 1e-3, "--lr-schedule", "constant", "--warmup-steps", 0, "--record", "run.json"]):
            done = run(*words, *more, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(plan.read_text()), json.loads((self.folder / "run.json").read_text())

    def test_a_plan_and_its_checkpoint_say_what_pytorch_trains(self):
        plan, record = self.started(GPT2, "bf16", "--recompute", "full")
        asked = compare_pytorch.question(plan)
        self.assertEqual({**asked, "network": None}, {"network": None, "sequence": 16, "batch": 4, "micro_batch": 2, "precision": "bf16",
                                                     "optimizer": "adamw", "recompute": "full"})
        weights = dict(compare_pytorch.weights_of(self.folder / "start", Tensors))
        self.assertEqual(weights["transformer.h.1.attn.c_attn.weight"], ("bf16", (64, 192), 64 * 192 * 2))
        self.assertEqual(len(weights), 2 * 12 + 4)
        rows = compare_pytorch.compared("like", asked, 1e9, compare_pytorch.own(record), [])
        self.assertEqual((rows[0]["losses"], rows[0]["peak_bytes"]),
                         ([step["loss"] for step in record["steps"]], record["ranks"][0]["memory"]["arena_bytes"]))

    def test_what_pytorch_is_not_given_is_refused(self):
        plan, _ = self.started(GPT2, "fp32")
        for place, key, value, says in (("strategy", "tensor_parallel", 2, "tensor_parallel is 2; expected 1"),
                                        ("strategy", "precision", "fp16", "precision is fp16; expected one of fp32, bf16"),
                                        ("strategy", "recompute", "selective", "recompute is selective; expected one of none, full"),
                                        ("launch", "network", {**GPT2, "model_type": "opt"}, "model_type is opt"),
                                        ("launch", "network", {**GPT2, "attn_pdrop": 0.1}, "has dropout"),
                                        ("launch", "network", {k: v for k, v in GPT2.items() if k != "attn_pdrop"}, "has dropout")):
            with self.assertRaises(SystemExit) as refused:
                compare_pytorch.question({**plan, place: {**plan[place], key: value}})
            self.assertIn(says, str(refused.exception))

    def test_losses_that_differ_by_more_than_the_precision_s_tolerance_are_told(self):
        ours = {"by": "plan run", "losses": [2.0, 4.0], "step_s": 0.5, "peak_bytes": 1}
        asked = {"precision": "bf16", "batch": 1, "sequence": 1, "micro_batch": 1, "recompute": "none"}
        for loss, agrees in ((4.015, True), (4.017, False)):
            row = compare_pytorch.compared("r", asked, 1e12, ours, [{**ours, "by": "PyTorch", "losses": [2.0, loss], "peak_bytes": None}])[1]
            self.assertEqual(row["agrees"], agrees)
            self.assertEqual(row["model_flops_per_s"], 2e12)
            self.assertEqual("beyond" in list(compare_pytorch.table_lines([row]))[-1], not agrees)

    def test_pytorch_has_the_losses_of_the_run(self):
        if not HAS_TORCH:
            self.skipTest("no PyTorch here")
        for model, precision, flags in ((GPT2, "fp32", ["--recompute", "full"]), (LLAMA, "fp32", []), (GPT2, "bf16", []), (LLAMA, "bf16", [])):
            with self.subTest(model=model.get("model_type", "llama"), precision=precision):
                self.started(model, precision, *flags)
                done = subprocess.run([sys.executable, SCRIPT, "step", "--plan", "plan.json", "--run", "run.json", "--start", "start",
                                       "--tokens", "tokens", "--out", "o.pytorch.json", "--device", "cpu"], cwd=self.folder,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    command.main()
