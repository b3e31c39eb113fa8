"""DeepSpeed's own configuration on ds_config.json, with each key looked up in its sources, and the rules of its engine that
need ranks to be met (accepting.py). tests/data/launch/check_deepspeed.py reads the file."""
import ast
import json
import sys

from accepting import ROOT, equal, equal_degrees, judge

sys.path.insert(0, str(ROOT / "tests/data/launch"))
import check_deepspeed  # noqa: E402


def check_experts(config, ranks, sequence):
    from deepspeed.module_inject.auto_ep_config import parse_autoep_config, validate_autoep_config

    if "expert_parallel" in config:
        tensor = config.get("tensor_parallel", {}).get("autotp_size", 1)
        validate_autoep_config(parse_autoep_config(config["expert_parallel"]), ranks * tensor, 1, tensor, sequence)


def check(folder, expected, words):
    unknown = check_deepspeed.check(folder / "ds_config.json", words)
    if unknown:
        raise ValueError("not known: " + ", ".join(unknown))
    config = json.loads((folder / "ds_config.json").read_text(encoding="utf-8"))
    sequence = config.get("sequence_parallel_size", 1)
    stages = config["pipeline"].get("stages", 1)
    ranks = config["train_batch_size"] // config["train_micro_batch_size_per_gpu"] // config["gradient_accumulation_steps"]
    check_experts(config, ranks * sequence * stages, sequence)
    # engine.py and pipe/engine.py raise for these, once there are ranks.
    equal("how many of tensor, sequence and pipeline parallelism are joined",
          sum(degree > 1 for degree in (config.get("tensor_parallel", {}).get("autotp_size", 1), sequence, stages)) > 1, False)
    equal("ZeRO-2 or ZeRO-3 in a pipeline", stages > 1 and config["zero_optimization"]["stage"] >= 2, False)
    ast.parse((folder / "train.py").read_text(encoding="utf-8"))
    equal_degrees(expected, {
        "data_parallel": ranks, "tensor_parallel": config.get("tensor_parallel", {}).get("autotp_size", 1),
        "context_parallel": sequence, "pipeline_stages": stages, "zero_stage": config["zero_optimization"]["stage"],
        "expert_parallel": config.get("expert_parallel", {}).get("autoep_size", 1),
        "micro_batch": config["train_micro_batch_size_per_gpu"], "micro_batches": config["gradient_accumulation_steps"],
        "global_batch": config["train_batch_size"],
    })


if __name__ == "__main__":
    import deepspeed

    known = check_deepspeed.known_words()
    judge(deepspeed.__version__, lambda folder, expected: check(folder, expected, known))
