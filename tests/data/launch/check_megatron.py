#!/usr/bin/env python3
"""Holds the names that exports for Megatron-LM and Megatron-Bridge write against megatron-core's own definitions.

Usage: check_megatron.py PACKAGE [ARGUMENTS_PY]   (PACKAGE: the folder "megatron" of an unpacked megatron-core)

Every name of names.json that is said to be a field of a configuration class is looked up in that class; with Megatron-LM's
megatron/training/arguments.py every other flag in the text of that file. Nothing is imported.

Not run by CI, which has no Megatron: tests/unit/planner/frameworks/launch/names_test.cpp holds the exports against names.json.
"""
import ast
import json
import pathlib
import sys

CLASSES = {
    "ModelParallelConfig": "core/model_parallel_config.py",
    "TransformerConfig": "core/transformer/transformer_config.py",
    "MLATransformerConfig": "core/transformer/transformer_config.py",
    "OptimizerConfig": "core/optimizer/optimizer_config.py",
    "DistributedDataParallelConfig": "core/distributed/distributed_data_parallel_config.py",
}


def fields(path, name):
    """Of a dataclass, without those that it inherits."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (found,) = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name]
    return {node.target.id for node in found.body if isinstance(node, ast.AnnAssign)}


def main():
    package = pathlib.Path(sys.argv[1])
    arguments = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8") if len(sys.argv) > 2 else None
    known = {name: fields(package / file, name) for name, file in CLASSES.items()}
    names = json.loads((pathlib.Path(__file__).parent / "names.json").read_text(encoding="utf-8"))
    missing = []
    for target in ("megatron-lm", "megatron-bridge"):
        for name, where in names[target].items():
            if where in known:
                field = name.split(".")[-1].lstrip("-").replace("-", "_")
                if field not in known[where]:
                    missing.append(f"{name}: no field of {where}")
            elif arguments is not None and target == "megatron-lm" and where == "arguments.py":
                if f"'{name}'" not in arguments and f'"{name}"' not in arguments:
                    missing.append(f"{name}: not in arguments.py")
    print("\n".join(missing) if missing else "every name is defined")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
