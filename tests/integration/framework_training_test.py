#!/usr/bin/env python3
"""Files of `plan export --to accelerate, deepspeed and lightning` train as `plan run` does: started by their own launch.sh, on the
CPU over gloo, from the same first weights and data, their losses and last weights are those of the plan's other executor, and
replicas stay equal. Skipped without the frameworks: `make launch-check` runs it where they are.

Usage: framework_training_test.py <plan>
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig

import command
from training import Training, losses

try:
    import torch
    from safetensors import safe_open
    import transformers  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; expected PyTorch, safetensors and transformers, and accelerate, deepspeed or lightning")
    sys.exit(77)

STEPS = 4
# What numbers of the format differ by where sums are formed in another order, relative to a loss.
TOLERANCE = {"fp32": 1e-5, "bf16": 2.0**-8, "bf16-pure": 2.0**-7}
DATA = "".join(f"{i} times {i} is {i * i}; " for i in range(2000))
LLAMA = {"num_hidden_layers": 4, "num_key_value_heads": 2, "max_position_embeddings": 64}
QWEN3 = {**LLAMA, "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 16, "tie_word_embeddings": True}
# Three ranks divide none of its sizes.
ODD = {**LLAMA, "num_hidden_layers": 3, "hidden_size": 40, "num_attention_heads": 5, "num_key_value_heads": 5, "intermediate_size": 61,
       "vocab_size": 131}
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 256, "n_embd": 32, "n_layer": 4, "n_head": 4, "n_inner": 64,
        "n_positions": 64, "hidden_act": "gelu_new", "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
ADAMW = {"learning_rate": 0.001, "weight_decay": 2.0, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-6}
MOMENTUM = {"learning_rate": 0.3, "momentum": 0.8, "weight_decay": 0.2}


def tensors(folder):
    held = {}
    for path in folder.glob("model*.safetensors"):
        with safe_open(path, "pt") as file:
            held.update({name: file.get_tensor(name).float() for name in file.keys()})
    return held


def printed(text):
    return [float(loss) for loss in re.findall(r"step \d+: loss ([\d.]+)", text)]


def needs(module):
    def decorated(case):
        missing = importlib.util.find_spec(module) is None
        if missing:
            print(f"skipped: {case.__name__}: no {module}")
        return None if missing else case
    return decorated


class FrameworkTraining(Training):
    target = ""

    def recipe_of(self, plan, **recipe):
        document = json.loads(plan.read_text())
        document["recipe"].update(recipe)
        return self.written("plan.json", json.dumps(document))

    def run_plan(self, plan, folder):
        done = command.run("run", "--plan", plan, "--data", self.folder / "data.txt", "--generate", 0, "--json", "--checkpoint",
                           self.folder / folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [loss for _, loss, _ in losses(done.stdout) if loss is not None]

    def exported(self, plan):
        folder = self.folder / "launch"
        done = command.run("export", "--plan", plan, "--to", self.target, "--out", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("nearest", done.stderr)
        return folder

    def from_weights(self, folder):
        """As a user would: the folder of a checkpoint in the place of the network's name."""
        first = str(self.folder / "first/step-00000001")
        launch = folder / "launch.sh"
        text = launch.read_text()
        text = text.replace("--model_name_or_path tiny", f"--model_name_or_path {first} --load_weights")
        launch.write_text(re.sub(r"(?<![\w.-])train\.py", "trained_script.py", text))
        script = folder / "train.py"
        script.write_text(script.read_text().replace('name="tiny"', f'name="{first}", load_weights=True'))
        (folder / "trained_script.py").write_bytes((pathlib.Path(__file__).parent / "trained_script.py").read_bytes())

    def launched(self, folder, split, batch):
        adapters = self.folder / "first/step-00000001/adapter"
        asked = {"data": str(self.folder / "data.txt"), "global_batch": batch, "seed": 0, "split": split,
                 "adapters": str(adapters) if adapters.is_dir() else ""}
        environment = {**os.environ, "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1",
                       "CUDA_VISIBLE_DEVICES": "", "DS_ACCELERATOR": "cpu", "TRAINED": json.dumps(asked),
                       "SAVED": str(self.folder / "saved"), "MASTER_PORT": "0", "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(["bash", "launch.sh"], cwd=folder, env=environment, text=True, capture_output=True, timeout=150)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-6000:])
        return printed(done.stdout + done.stderr)

    def trains_alike(self, network, ranks, *strategy, precision="fp32", optimizer="momentum", recipe=MOMENTUM, split=False, batch=8,
                     tolerance=None, **more):
        self.written("data.txt", DATA)
        plan = self.plan_of(*strategy, "--optimizer", optimizer, gpus=ranks, model=network, precision=precision, batch=batch)
        recipe = {"steps": STEPS, "seed": 0, "lr_schedule": "constant", "warmup_steps": 0, "clip": 0, **recipe, **more}
        unchanged = {"steps": 1, "learning_rate": 1e-30, "final_learning_rate": None, "weight_decay": 0}  # no weight changes by as little
        self.run_plan(self.recipe_of(plan, **{**recipe, **unchanged}), "first")
        plan = self.recipe_of(plan, **{"final_learning_rate": None, **recipe})
        expected = self.run_plan(plan, "last")
        folder = self.exported(plan)
        self.from_weights(folder)
        found = self.launched(folder, split, batch)
        self.assertEqual(len(found), STEPS)
        self.assertGreater(expected[0] - expected[-1], 0.02)
        for one, other in zip(found, expected):
            self.assertAlmostEqual(one / other, 1.0, delta=tolerance or TOLERANCE[precision], msg=f"{found} {expected}")
        self.holds(precision)

    def holds(self, precision):
        """Masters and states are in 32 bits but where the plan has bf16 alone; gradients are so too, or as the plan has them."""
        formats = json.loads((self.folder / "saved/formats.json").read_text())
        wanted = "torch.bfloat16" if precision == "bf16-pure" else "torch.float32"
        self.assertEqual(set(formats["updated"] + formats["states"]), {wanted}, formats)
        planned = json.loads((self.folder / "plan.json").read_text())["strategy"]["gradient_precision"]
        self.assertTrue(formats["gradients"])
        self.assertLessEqual(set(formats["gradients"]), {wanted, {"bf16": "torch.bfloat16", "fp32": "torch.float32"}[planned]}, formats)

    def same_weights(self):
        """Not after Adam, which divides a gradient by its own size: that of a key's bias is rounding alone."""
        saved, last = tensors(self.folder / "saved"), tensors(self.folder / f"last/step-{STEPS:08}")
        saved = {name: weight for name, weight in saved.items() if name in last or name != "lm_head.weight"}
        self.assertEqual(saved.keys(), last.keys())
        for name, weight in saved.items():
            self.assertEqual(weight.shape, last[name].shape, name)
            self.assertLess((weight - last[name]).norm() / last[name].norm(), 1e-4, name)


class Cases:
    """What all of the frameworks train; classes of cases say where one differs."""
    another, tied = GPT2, QWEN3  # networks besides Llama
    adapters_zero = 2
    bf16_tolerance = TOLERANCE["bf16"]

    def test_one_rank(self):
        self.trains_alike(self.another, 1)
        self.same_weights()

    def test_replicas(self):
        self.trains_alike(LLAMA, 2, "--dp", 2, "--zero", 0)
        self.same_weights()

    def test_sharded_states(self):
        self.trains_alike(LLAMA, 2, "--dp", 2, "--zero", 1)
        self.same_weights()

    def test_sharded_gradients(self):
        self.trains_alike(self.another, 2, "--dp", 2, "--zero", 2)
        self.same_weights()

    def test_sharded_parameters_recomputed(self):
        self.trains_alike(self.tied, 4, "--dp", 4, "--zero", 3, "--recompute", "full")
        self.same_weights()

    def test_odd_sizes_over_three_ranks(self):
        self.trains_alike(ODD, 3, "--dp", 3, "--zero", 3, batch=9)
        self.same_weights()

    def test_recipe_with_shards(self):
        self.trains_alike(LLAMA, 2, "--dp", 2, "--zero", 3, optimizer="adamw", recipe=ADAMW, lr_schedule="cosine", schedule_steps=6,
                          warmup_steps=2, final_learning_rate=0.001, clip=0.1)

    def test_recipe_with_replicas(self):
        self.trains_alike(LLAMA, 2, "--dp", 2, "--zero", 0, lr_schedule="linear", schedule_steps=8, warmup_steps=2,
                          final_learning_rate=0.1, clip=0.1)
        self.same_weights()

    def test_bf16(self):
        self.trains_alike(LLAMA, 2, "--dp", 2, "--zero", 3, precision="bf16", tolerance=self.bf16_tolerance)

    def test_adapters(self):
        self.trains_alike(LLAMA, 2, "--dp", 2, "--zero", self.adapters_zero, "--lora-rank", 4, optimizer="sgd",
                          recipe={"learning_rate": 10, "weight_decay": 0.002})


class CasesOfTensors:
    def test_tensor_parallel(self):
        self.trains_alike(LLAMA, 2, "--tp", 2, "--zero", 0, split=True)
        self.same_weights()

    def test_tensor_parallel_with_shards(self):
        self.trains_alike(LLAMA, 4, "--tp", 2, "--dp", 2, "--zero", 3, split=True)
        self.same_weights()

    def test_bf16_alone(self):
        self.trains_alike(LLAMA, 2, "--dp", 2, "--zero", 2, precision="bf16-pure")


@needs("accelerate")
class Accelerate(Cases, FrameworkTraining):
    target = "accelerate"
    adapters_zero = 3
    bf16_tolerance = 2.0**-7  # FSDP gives the loss itself in bf16

    def test_tensor_parallel(self):
        self.trains_alike(LLAMA, 2, "--tp", 2, "--zero", 3, split=True)
        self.same_weights()


@needs("deepspeed")
class DeepSpeed(Cases, CasesOfTensors, FrameworkTraining):
    target = "deepspeed"

    def test_context_parallel(self):
        self.trains_alike(LLAMA, 2, "--cp", 2, "--cp-comm", "all-to-all", "--zero", 3)
        self.same_weights()


@needs("lightning")
class Lightning(Cases, CasesOfTensors, FrameworkTraining):
    target = "lightning"
    another = tied = LLAMA  # the script names the class of Llama's layers
    adapters_zero = 0


if __name__ == "__main__":
    command.main()
