"""torchtitan's own configuration on torchtitan.toml, and its ParallelDims of the degrees (accepting.py)."""
import importlib.metadata
import sys

from accepting import equal_degrees, judge


def check(folder, expected):
    from torchtitan.config import ConfigManager
    from torchtitan.distributed import ParallelDims

    config = ConfigManager().parse_args(["--job.config_file", str(folder / "torchtitan.toml")])
    degrees, training = config.parallelism, config.training
    world = expected["data_parallel"] * expected["tensor_parallel"] * expected["pipeline_stages"] * expected["context_parallel"]
    dims = ParallelDims(
        dp_replicate=degrees.data_parallel_replicate_degree, dp_shard=degrees.data_parallel_shard_degree,
        cp=degrees.context_parallel_degree, tp=degrees.tensor_parallel_degree, pp=degrees.pipeline_parallel_degree,
        ep=degrees.expert_parallel_degree, etp=degrees.expert_tensor_parallel_degree, world_size=world)
    data = dims.dp_replicate * dims.dp_shard
    accumulated, rest = divmod(training.global_batch_size, training.local_batch_size * data)
    if rest:
        raise ValueError(f"global batch {training.global_batch_size} is no multiple of {training.local_batch_size} * {data}")
    # A pipeline takes a rank's micro-batches at once.
    micro = degrees.pipeline_parallel_microbatch_size if dims.pp > 1 else training.local_batch_size
    equal_degrees(expected, {
        "tensor_parallel": dims.tp, "pipeline_stages": dims.pp, "context_parallel": dims.cp, "expert_parallel": dims.ep,
        "data_parallel": data, "global_batch": training.global_batch_size, "micro_batch": micro,
        "micro_batches": accumulated * training.local_batch_size // micro,
    })


if __name__ == "__main__":
    judge(importlib.metadata.version("torchtitan"), check)
