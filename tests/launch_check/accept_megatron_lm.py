"""Megatron-LM's own parser, validate_args and transformer configuration on arguments.txt (accepting.py). There is no GPU and
no Transformer Engine: what asks for their generation and release is answered as with Hopper or Blackwell, and with 2.9."""
import os
import shlex
import sys

import torch
from accepting import equal_degrees, judge

TRANSFORMER_ENGINE = "2.9.0"  # is asked for by release; its kernels are not started here
# What a GPU would be asked for; Hopper, or Blackwell where the plan's formats are Blackwell's.
CAPABILITY = {"mxfp8": (10, 0), "nvfp4": (10, 0)}


class Properties:
    """Of a GPU, as far as its generation is asked for."""

    def __init__(self, capability):
        self.major, self.minor = capability


def stand_in_for_gpu(precision):
    capability = CAPABILITY.get(precision, (9, 0))
    torch.cuda.get_device_capability = lambda *_: capability
    torch.cuda.get_device_properties = lambda *_: Properties(capability)


def stand_in_for_transformer_engine():
    import megatron.core.utils
    from megatron.core.models.common.embeddings import rope_utils
    from packaging.version import Version

    megatron.core.utils._te_version = Version(TRANSFORMER_ENGINE)
    if rope_utils.fused_apply_rotary_pos_emb is None:
        rope_utils.fused_apply_rotary_pos_emb = rope_utils.fused_apply_rotary_pos_emb_thd = print


def check(folder, expected):
    from megatron.training import arguments

    world = expected["data_parallel"] * expected["tensor_parallel"] * expected["pipeline_stages"] * expected["context_parallel"]
    os.environ.update({"WORLD_SIZE": str(world), "RANK": "0", "LOCAL_RANK": "0", "CUDA_DEVICE_MAX_CONNECTIONS": "1"})
    words = shlex.split((folder / "arguments.txt").read_text(encoding="utf-8"))
    if "--use-megatron-fsdp" in words:
        del os.environ["CUDA_DEVICE_MAX_CONNECTIONS"]  # as launch.sh does
    stand_in_for_gpu(expected["precision"])
    sys.argv = ["pretrain_gpt.py", *words]
    args = arguments.parse_args()
    arguments.validate_args(args)
    arguments.core_transformer_config_from_args(args)
    virtual = args.virtual_pipeline_model_parallel_size or 1
    equal_degrees(expected, {
        "tensor_parallel": args.tensor_model_parallel_size, "pipeline_stages": args.pipeline_model_parallel_size,
        "context_parallel": args.context_parallel_size, "data_parallel": args.data_parallel_size, "virtual_stages": virtual,
        "expert_parallel": args.expert_model_parallel_size, "sequence_parallel": args.sequence_parallel,
        "micro_batch": args.micro_batch_size, "global_batch": args.global_batch_size,
        "micro_batches": args.global_batch_size // args.micro_batch_size // args.data_parallel_size,
    })


if __name__ == "__main__":
    from megatron.core import package_info

    stand_in_for_transformer_engine()
    judge(package_info.__version__, check)
