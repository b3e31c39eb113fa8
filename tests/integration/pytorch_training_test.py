#!/usr/bin/env python3
"""train.py of `plan export --to pytorch` trains as `plan run` does: from the same first weights and data its losses and
last weights are the same, on 1, 2 and 4 ranks over gloo, and replicas stay equal; so are they where it follows a whole
recipe, and where it goes on from its checkpoint. Skipped without torch and safetensors.

Usage: pytorch_training_test.py <plan>
"""
import json
import os
import re
import shutil
import subprocess
import sys

import command
from training import Training, losses

try:
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file
except ImportError as missing:
    print(f"skipped: {missing}; expected PyTorch and safetensors (pip install torch safetensors)")
    sys.exit(77)

STEPS = 4
# What numbers of the format differ by where sums are formed in another order, relative to a loss.
TOLERANCE = {"fp32": 1e-5, "bf16": 2.0**-8}
DATA = "".join(f"{i} times {i} is {i * i}; " for i in range(2000))

LLAMA = {"num_key_value_heads": 2, "max_position_embeddings": 64, "rope_scaling": {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16}}
MISTRAL = {"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 8}
QWEN2 = {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "num_key_value_heads": 2,
         "tie_word_embeddings": True}
QWEN3 = {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 16, "num_key_value_heads": 2,
         "tie_word_embeddings": True}
MIXTRAL = {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 4,
           "num_experts_per_tok": 2, "sliding_window": None}
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 256, "n_embd": 32, "n_layer": 4,
        "n_head": 4, "n_positions": 64, "hidden_act": "gelu_new", "resid_pdrop": 0.0, "embd_pdrop": 0.0,
        "attn_pdrop": 0.0}

RECIPE = {"steps": STEPS, "seed": 7, "lr_schedule": "cosine", "schedule_steps": 6, "warmup_steps": 2,
          "final_learning_rate": 0.001, "clip": 0.1, "checkpoint": "state", "checkpoint_every": 2}

ADAMW = {"learning_rate": 0.001, "weight_decay": 2.0, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-6}
MOMENTUM = {"learning_rate": 1.0, "momentum": 0.8, "weight_decay": 0.02}

# Runs train.py, and before it saves compares what each rank and its copies hold.
REPLICAS = """
import torch
import torch.distributed as dist
import train

def compared(chunks, folder, mesh, write=train.save):
    for name, p in ((name, p) for chunk in chunks for name, p in chunk.named_parameters()):
        is_tensor = isinstance(p, train.DTensor)
        local = (p.to_local() if is_tensor else p).detach().contiguous()
        names = ["replicate"] if is_tensor else ["replicate", "tp"]
        if is_tensor and "tp" in p.device_mesh.mesh_dim_names and all(one.is_replicate() for one in p.placements):
            names.append("tp")
        for group in (mesh[name].get_group() for name in names):
            copies = [torch.empty_like(local) for _ in range(dist.get_world_size(group))]
            dist.all_gather(copies, local, group=group)
            if not all(torch.equal(one, local) for one in copies):
                raise SystemExit(f"replicas of {name} differ")
    write(chunks, folder, mesh)

train.save = compared
train.main()
"""


def tensors(folder):
    held = {}
    for path in folder.glob("model*.safetensors"):
        with safe_open(path, "pt") as file:
            held.update({name: file.get_tensor(name).float() for name in file.keys()})
    return held


def printed(text):
    return [float(loss) for loss in re.findall(r"^step \d+: loss (\S+)$", text, re.MULTILINE)]


class PyTorchTraining(Training):
    def run_plan(self, plan, steps, rate, folder, *words):
        done = command.run("run", "--plan", plan, "--data", self.folder / "data.txt", "--steps", steps, "--learning-rate",
                           rate, "--lr-schedule", "constant", "--warmup-steps", 0, "--clip", 0, "--generate", 0, "--json",
                           "--checkpoint", self.folder / folder, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [loss for _, loss, _ in losses(done.stdout) if loss is not None]

    def launched(self, ranks, **variables):
        (self.folder / "launch/check.py").write_text(REPLICAS)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "DATA": str(self.folder / "data.txt"),
                       "WEIGHTS": str(self.folder / "first/step-00000001"), "SAVE": str(self.folder / "saved"),
                       "CUDA_VISIBLE_DEVICES": "", **variables}
        done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--rdzv-backend=c10d",
                               "--rdzv-endpoint=localhost:0", f"--nproc-per-node={ranks}", "check.py"],
                              cwd=self.folder / "launch", env=environment, text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])
        return done.stdout

    def exported(self, plan):
        done = command.run("export", "--plan", plan, "--to", "pytorch", "--strict", "--out", self.folder / "launch")
        self.assertEqual(done.returncode, 0, done.stderr)

    def trains_alike(self, network, ranks, *strategy, precision="fp32", optimizer="sgd", rate=0.3,
                     words=("--weight-decay", 0), prefix=""):
        self.written("data.txt", DATA)
        plan = self.plan_of(*strategy, "--optimizer", optimizer, gpus=ranks, model=network, precision=precision)
        self.run_plan(plan, 1, 1e-30, "first", *words)  # no weight changes by as little
        if prefix:
            folder = self.folder / "first/step-00000001"
            save_file({name.removeprefix(prefix): weight for name, weight in tensors(folder).items()},
                      folder / "model.safetensors")
        expected = self.run_plan(plan, STEPS, rate, "last", *words)
        self.exported(plan)
        said = self.launched(ranks, STEPS=str(STEPS), LEARNING_RATE=str(rate))
        self.assertNotIn("stand-in", said)
        self.same_losses(printed(said), expected, TOLERANCE[precision])
        if precision == "fp32" and optimizer == "sgd":
            self.same_weights(tensors(self.folder / "saved"), tensors(self.folder / f"last/step-{STEPS:08}"))

    def same_losses(self, found, expected, tolerance):
        self.assertEqual(len(found), STEPS)
        self.assertGreater(expected[0] - expected[-1], 0.02)
        for one, other in zip(found, expected):
            self.assertAlmostEqual(one / other, 1.0, delta=tolerance, msg=f"{found} {expected}")

    def follows_recipe(self, network, ranks, *strategy, optimizer, **recipe):
        """Once in one piece, once in two."""
        self.written("data.txt", DATA)
        plan = self.plan_of(*strategy, "--optimizer", optimizer, gpus=ranks, model=network)
        self.run_plan(self.recipe_of(plan, seed=RECIPE["seed"]), 1, 1e-30, "first", "--weight-decay", 0)
        plan = self.recipe_of(plan, **RECIPE, **recipe)
        done = command.run("run", "--plan", plan, "--data", self.folder / "data.txt", "--generate", 0, "--json",
                           "--checkpoint", self.folder / "last")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = losses(done.stdout)
        self.assertLess(2 * RECIPE["clip"], min(norm for _, _, norm in expected if norm))
        self.exported(plan)
        whole = printed(self.launched(ranks))
        self.same_losses(whole, [loss for _, loss, _ in expected if loss is not None], TOLERANCE["fp32"])
        saved = tensors(self.folder / "saved")
        if optimizer == "momentum":
            self.same_weights(saved, tensors(self.folder / f"last/step-{STEPS:08}"))
        shutil.rmtree(self.folder / "launch/state")
        parts = [printed(self.launched(ranks, STEPS=str(STEPS // 2))), printed(self.launched(ranks))]
        self.assertEqual(parts, [whole[:STEPS // 2], whole[STEPS // 2:]])
        for name, weight in tensors(self.folder / "saved").items():
            self.assertTrue(torch.equal(weight, saved[name]), name)

    def recipe_of(self, plan, **recipe):
        document = json.loads(plan.read_text())
        document["recipe"].update(recipe)
        return self.written("edited.json", json.dumps(document))

    def same_weights(self, saved, last):
        """Not after Adam, which divides a gradient by its own size: that of a key's bias is rounding alone."""
        self.assertEqual(saved.keys(), last.keys())
        for name, weight in saved.items():
            self.assertEqual(weight.shape, last[name].shape, name)
            self.assertLess((weight - last[name]).norm() / last[name].norm(), 1e-4, name)

    def test_gpt2_on_one_rank_from_names_without_a_prefix(self):  # as openai-community/gpt2 has them
        self.trains_alike(GPT2, 1, optimizer="adam", rate=0.001, words=("--beta2", 0.999), prefix="transformer.")

    def test_llama_with_split_tensors_and_sharded_states(self):
        self.trains_alike(LLAMA, 4, "--tp", 2, "--sequence-parallel", "--dp", 2, "--zero", 3, "--recompute", "full")

    def test_mistral_with_replicas(self):
        self.trains_alike(MISTRAL, 2, "--dp", 2, "--zero", 0)

    def test_mistral_in_bf16(self):
        # At a rate of 0.3 the fourth step makes 0.3 % of what formats round: both executors lie as far from fp32, on either side.
        self.trains_alike(MISTRAL, 2, "--dp", 2, "--zero", 2, "--gradient-precision", "fp32", precision="bf16", rate=0.1)

    def test_tied_qwen2_over_two_stages_with_replicas(self):
        self.trains_alike(QWEN2, 4, "--pp", 2, "--dp", 2, "--zero", 0, "--schedule", "1f1b")

    def test_llama_with_replicas_of_split_tensors(self):
        self.trains_alike(LLAMA, 4, "--tp", 2, "--dp", 2, "--zero", 0)

    def test_llama_with_replicas_of_a_backward_in_two_parts(self):
        self.trains_alike(LLAMA, 4, "--pp", 2, "--virtual-stages", 2, "--schedule", "zbv", "--dp", 2, "--zero", 0)

    def test_tied_gpt2_with_replicas_of_two_chunks_on_a_rank(self):
        self.trains_alike(GPT2, 4, "--pp", 2, "--virtual-stages", 2, "--schedule", "interleaved", "--dp", 2, "--zero", 0)

    def test_tied_qwen3_in_a_v(self):
        self.trains_alike(QWEN3, 2, "--pp", 2, "--virtual-stages", 2, "--schedule", "zbv")

    def test_tied_qwen3_with_split_tensors(self):
        self.trains_alike(QWEN3, 2, "--tp", 2)

    def test_gpt2_over_interleaved_stages(self):
        self.trains_alike(GPT2, 4, "--pp", 2, "--virtual-stages", 2, "--schedule", "interleaved", "--dp", 2, "--zero", 2)

    def test_mixtral_with_split_experts(self):
        self.trains_alike(MIXTRAL, 2, "--tp", 2, "--sequence-parallel")

    def test_mixtral_with_sharded_experts(self):
        self.trains_alike(MIXTRAL, 2, "--dp", 2, "--zero", 3)

    def test_recipe_on_one_rank(self):
        self.follows_recipe(GPT2, 1, optimizer="adamw", **ADAMW)

    def test_recipe_with_split_tensors(self):  # gradients of norms are parts of a sum
        self.follows_recipe(LLAMA, 2, "--tp", 2, "--sequence-parallel", optimizer="momentum", **MOMENTUM)

    def test_recipe_with_split_tensors_and_sharded_states(self):
        self.follows_recipe(LLAMA, 4, "--tp", 2, "--sequence-parallel", "--dp", 2, "--zero", 3, optimizer="adamw",
                            **ADAMW)

    def test_recipe_with_replicas(self):
        self.follows_recipe(MISTRAL, 2, "--dp", 2, "--zero", 0, "--recompute", "full", optimizer="momentum",
                            **MOMENTUM)

    def test_recipe_of_tied_qwen2_over_two_stages_with_replicas(self):  # the norm counts the tied matrix once
        self.follows_recipe(QWEN2, 4, "--pp", 2, "--dp", 2, "--zero", 0, "--schedule", "1f1b", optimizer="momentum",
                            **MOMENTUM)

    def test_what_it_cannot_build_is_said(self):
        plan = self.plan_of("--dp", 2, gpus=2, model={"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"],
                                                      "head_dim": 8, "hidden_activation": "gelu_pytorch_tanh"})
        done = command.run("export", "--plan", plan, "--to", "pytorch", "--out", self.folder / "launch")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("small stand-in", done.stderr)
        self.written("data.txt", DATA)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "STEPS": "1", "CUDA_VISIBLE_DEVICES": ""}
        said = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--rdzv-backend=c10d",
                               "--rdzv-endpoint=localhost:0", "--nproc-per-node=2", "train.py"],
                              cwd=self.folder / "launch", env=environment, text=True, capture_output=True, timeout=300)
        self.assertEqual(said.returncode, 0, said.stderr[-3000:])
        self.assertRegex(said.stdout, r"train.py: a stand-in of width 64 is trained: gemma2 .*\nstep 1: loss ")


if __name__ == "__main__":
    command.main()
