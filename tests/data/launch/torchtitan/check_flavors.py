#!/usr/bin/env python3
"""Compares each row of planner/frameworks/torchtitan/flavors.cpp with torchtitan v0.2.2's model arguments: layers,
widths, heads, experts. Run in development: check_flavors.py FOLDER, with torchtitan/models below it (PyTorch not needed).
"""
import ast
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
NAMES = {"n_layers": ["num_hidden_layers"], "dim": ["hidden_size"], "n_heads": ["num_attention_heads"],
         "n_kv_heads": ["num_key_value_heads"], "moe_inter_dim": ["moe_intermediate_size"],
         "num_experts": ["n_routed_experts", "num_experts", "num_local_experts"], "top_k": ["num_experts_per_tok"],
         "vocab_size": ["vocab_size"], "kv_lora_rank": ["kv_lora_rank"]}


def constants(call):
    """Keyword arguments that are constants, those of a nested call included."""
    found = {}
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Constant):
            found[keyword.arg] = keyword.value.value
        elif isinstance(keyword.value, ast.Call):
            found.update(constants(keyword.value))
    return found


def flavors(folder, model):
    tree = ast.parse((folder / "torchtitan/models" / model / "__init__.py").read_text())
    return {key.value: constants(value) for node in ast.walk(tree) if isinstance(node, ast.Dict)
            for key, value in zip(node.keys, node.values) if isinstance(key, ast.Constant) and isinstance(value, ast.Call)}


def differences(arguments, config):
    for name, ours in NAMES.items():
        values = [config[one] for one in ours if one in config]
        if name in arguments and values[:1] != [arguments[name]]:
            yield f"{name}: {arguments[name]}, here {values}"


def main():
    folder = pathlib.Path(sys.argv[1])
    text = (ROOT / "planner/frameworks/torchtitan/flavors.cpp").read_text()
    rows = re.findall(r'Flavor\{"([^"]*)",\s*"[^"]*",\s*"([^"]*)",\s*"([^"]*)"', text)
    wrong = 0
    for network, model, flavor in rows:
        config = json.loads((ROOT / f"models/networks/{network}.json").read_text())["config"]
        found = list(differences(flavors(folder, model)[flavor], config))
        wrong += bool(found)
        print(network, model, flavor, "; ".join(found) or "agrees")
    return 1 if wrong or not rows else 0


sys.exit(main())
