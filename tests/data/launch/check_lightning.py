#!/usr/bin/env python3
"""Makes the strategy and the Trainer of exported scripts with Lightning's own classes, without starting ranks.

Usage: check_lightning.py FILE...   (in an environment with lightning and torch; no GPU)

The calls are taken out of the script as they stand; the accelerator is the CPU, since there may be no GPU.
Not run by CI, which has no Lightning: tests/golden/launch/checked keeps what was accepted.
"""
import ast
import inspect
import sys

import lightning as L
import torch
from lightning.pytorch import strategies


class Block(torch.nn.Module):
    """In the place of a layer of the model."""


def assigned(tree, name):
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return node.value
    raise AssertionError(f"nothing is assigned to {name}")


def known_arguments(call, function):
    parameters = inspect.signature(function).parameters
    unknown = [k.arg for k in call.keywords if k.arg not in parameters]
    assert not unknown, f"{function.__name__} has no {unknown}"


def check(path):
    tree = ast.parse(open(path, encoding="utf-8").read(), path)
    call = assigned(tree, "strategy")
    kind = getattr(strategies, call.func.id)
    if not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(kind.__init__).parameters.values()):
        known_arguments(call, kind.__init__)
    if call.func.id != "DeepSpeedStrategy":  # it asks for deepspeed
        eval(compile(ast.Expression(call), path, "eval"), {call.func.id: kind, "Block": Block})
    trainer = assigned(tree, "trainer")
    known_arguments(trainer, L.Trainer.__init__)
    arguments = {k.arg: ast.literal_eval(k.value) for k in trainer.keywords if k.arg != "strategy"}
    arguments |= {"accelerator": "cpu", "devices": 1, "num_nodes": 1, "logger": False, "enable_checkpointing": False}
    L.Trainer(**arguments)


def main():
    for path in sys.argv[1:]:
        check(path)
        print(f"{path}: accepted")
    print(f"lightning {L.__version__}: {len(sys.argv) - 1} of {len(sys.argv) - 1} accepted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
