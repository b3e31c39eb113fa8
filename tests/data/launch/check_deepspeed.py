#!/usr/bin/env python3
"""Reads exported ds_config.json files with DeepSpeed's own configuration code, and checks that it knows each key.

Usage: check_deepspeed.py FILE...   (in an environment with deepspeed and torch; no GPU)

Not run by CI, which has no DeepSpeed: tests/golden/launch/checked keeps what was accepted.
"""
import json
import pathlib
import re
import sys

import deepspeed
import deepspeed.comm
from deepspeed.runtime import config as runtime
from deepspeed.runtime.precision_config import DeepSpeedBF16Config, DeepSpeedFP16Config
from deepspeed.runtime.tensor_parallel.config import TPTrainingConfig
from deepspeed.runtime.zero.config import DeepSpeedZeroConfig

MODELS = {
    "zero_optimization": DeepSpeedZeroConfig,
    "bf16": DeepSpeedBF16Config,
    "fp16": DeepSpeedFP16Config,
    "tensor_parallel": TPTrainingConfig,
}


class Ranks:
    """What a configuration asks of the parallel groups: the batch is checked against the data-parallel ranks."""

    def __init__(self, size):
        self.size = size

    def get_data_parallel_world_size(self):
        return self.size


def known_words():
    """Every quoted word of DeepSpeed's sources: keys are among them."""
    root = pathlib.Path(deepspeed.__file__).parent
    words = set()
    for path in root.rglob("*.py"):
        words.update(re.findall(r"""["']([a-z0-9_]+)["']""", path.read_text(encoding="utf-8", errors="replace")))
    return words


def unknown_keys(config, words):
    for section, value in config.items():
        if section not in words:
            yield section
        fields = MODELS.get(section)
        for key in value if isinstance(value, dict) else ():
            if fields is not None:
                names = set(fields.model_fields) | {f.alias for f in fields.model_fields.values()}
                if key not in names:
                    yield f"{section}.{key}"
            elif key not in words and not attribute_exists(section, key):
                yield f"{section}.{key}"


def attribute_exists(section, key):
    """Fields of dataclasses are no quoted words."""
    if section != "expert_parallel":
        return False
    from deepspeed.module_inject.auto_ep_config import AutoEPConfig

    return key in AutoEPConfig.__dataclass_fields__


def check(path, words):
    config = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    ranks = config["train_batch_size"] // (
        config["train_micro_batch_size_per_gpu"] * config["gradient_accumulation_steps"]
    )
    deepspeed.comm.get_rank = lambda *_, **__: 0
    deepspeed.comm.get_world_size = lambda *_, **__: ranks
    read = runtime.DeepSpeedConfig(dict(config), mpu=Ranks(ranks))
    assert read.zero_optimization_stage == config["zero_optimization"]["stage"]
    assert read.train_batch_size == config["train_batch_size"]
    assert read.bfloat16_config.enabled == config.get("bf16", {}).get("enabled", False)
    assert read.float16_config.enabled == config.get("fp16", {}).get("enabled", False)
    if "gradient_clipping" in config:  # where nobody says it, the release's own default counts
        assert read.gradient_clipping == config["gradient_clipping"]
    assert read.tensor_parallel_config.autotp_size == config.get("tensor_parallel", {}).get("autotp_size", 0)
    assert read.grad_accum_dtype == config.get("data_types", {}).get("grad_accum_dtype")
    assert all(read.pipeline[key] == value for key, value in config.get("pipeline", {}).items())
    return list(unknown_keys(config, words))


def main():
    words = known_words()
    failed = 0
    for path in sys.argv[1:]:
        unknown = check(path, words)
        print(f"{path}: " + ("accepted" if not unknown else "not known: " + ", ".join(unknown)))
        failed += bool(unknown)
    print(f"deepspeed {deepspeed.__version__}: {len(sys.argv) - 1 - failed} of {len(sys.argv) - 1} accepted")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
