#!/usr/bin/env python3
"""Measures what DeepSpeed's ZeRO-3 costs the host: time of a processor for each sharded tensor in each pass.

Usage: measure_zero_hooks.py [--layers 8 24] [--lora]
Trains a Llama of tiny layers on one core with ZeRO stage 0 and 3 and prints, from the difference of two depths, what a
layer's forward and backward take more under stage 3, by tensor and by module. Processor time, so that other work on the
computer matters little. Needs torch, transformers, deepspeed and psutil (CPU builds do); --lora needs peft.
The result is `host_time_per_tensor_s` of models/calibrations/traits.json.
"""
import argparse
import os
import subprocess
import sys
import time

PASSES = 2  # forward and backward
REPEATS = 15
LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def median_seconds(stage, layers, lora):
    """In a process of its own: DeepSpeed holds one engine's state for a process."""
    words = [sys.executable, __file__, "--stage", str(stage), "--layers", str(layers), *(["--lora"] if lora else [])]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-2000:])
    seconds, tensors, modules = done.stdout.split()[-3:]
    return float(seconds), int(tensors), int(modules)


def train(stage, layers, lora):
    os.environ.update(DS_ACCELERATOR="cpu", MASTER_ADDR="127.0.0.1", MASTER_PORT="29544", RANK="0", WORLD_SIZE="1",
                      LOCAL_RANK="0")
    import deepspeed
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_num_threads(1)
    deepspeed.init_distributed("gloo")
    model = LlamaForCausalLM(LlamaConfig(vocab_size=100, hidden_size=64, intermediate_size=64, num_hidden_layers=layers,
                                         num_attention_heads=4, max_position_embeddings=64, use_cache=False))
    if lora:
        from peft import LoraConfig, get_peft_model
        model = get_peft_model(model, LoraConfig(r=4, target_modules=LINEAR, task_type="CAUSAL_LM"))
    config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 10**6, "bf16": {"enabled": True},
              "zero_optimization": {"stage": stage, "stage3_param_persistence_threshold": 0},
              "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}}, "steps_per_print": 10**9}
    engine, *_ = deepspeed.initialize(model=model, config=config,
                                      model_parameters=[p for p in model.parameters() if p.requires_grad])
    ids = torch.zeros(1, 8, dtype=torch.long)
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        engine.backward(engine(input_ids=ids, labels=ids).loss)
        taken.append(time.process_time() - start)
    print(sorted(taken)[REPEATS // 2], sum(1 for _ in model.parameters()), sum(1 for _ in model.modules()))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--layers", type=int, nargs="+", default=[8, 24], help="two depths whose difference counts")
    arguments.add_argument("--lora", action="store_true", help="with adapters on every linear module")
    arguments.add_argument("--stage", type=int, help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.stage is not None:
        train(asked.stage, asked.layers[0], asked.lora)
        return
    few, many = asked.layers
    extra = {}
    for stage in (0, 3):
        (low, *of_few), (high, *of_many) = (median_seconds(stage, depth, asked.lora) for depth in (few, many))
        extra[stage] = (high - low) / (many - few)
    tensors, modules = ((b - a) / (many - few) for a, b in zip(of_few, of_many))
    hooks = extra[3] - extra[0]
    print(f"a layer of {tensors:.0f} tensors in {modules:.0f} modules: {1e3 * extra[0]:.2f} ms without ZeRO, "
          f"{1e3 * hooks:.2f} ms more under stage 3\n{1e6 * hooks / PASSES / tensors:.0f} us a tensor and pass, "
          f"{1e6 * hooks / PASSES / modules:.0f} us a module and pass")


if __name__ == "__main__":
    main()
