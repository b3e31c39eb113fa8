#!/usr/bin/env python3
"""Reads exported accelerate.yaml files as `accelerate launch` does, down to the objects that a script gets.

Usage: check_accelerate.py FILE...   (in an environment with accelerate and torch; no GPU)

Not run by CI, which has no Accelerate: tests/golden/launch/checked keeps what was accepted.
"""
import os
import sys

import accelerate
import yaml
from accelerate.commands.config.config_args import load_config_from_file
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from accelerate.parallelism_config import ParallelismConfig
from accelerate.utils import FullyShardedDataParallelPlugin
from accelerate.utils.launch import prepare_deepspeed_cmd_env, prepare_multi_gpu_env, prepare_simple_launcher_cmd_env


def known_flags():
    return {action.dest for action in launch_command_parser()._actions}


def launch_environment(args):
    """What `accelerate launch` puts into the environment of each process."""
    if args.use_deepspeed:
        return prepare_deepspeed_cmd_env(args)[1]
    if args.use_fsdp or args.multi_gpu:
        return prepare_multi_gpu_env(args)
    return prepare_simple_launcher_cmd_env(args)[1]


def check(path, flags):
    raw = yaml.safe_load(open(path, encoding="utf-8"))
    unknown = [
        f"{section}.{key}"
        for section, prefix in (("fsdp_config", ""), ("parallelism_config", ""), ("deepspeed_config", ""))
        for key in raw.get(section, {})
        if prefix + key not in flags
    ]
    load_config_from_file(path)  # refuses keys that it does not know
    args = launch_command_parser().parse_args(["--config_file", path, "train.py"])
    args, defaults, _ = _validate_launch_command(args)
    args.deepspeed_fields_from_accelerate_config = ",".join(defaults.deepspeed_config)  # as launch_command does
    assert args.num_processes == raw["num_processes"], (args.num_processes, raw["num_processes"])
    assert args.mixed_precision == raw["mixed_precision"]
    before = dict(os.environ)
    os.environ.update({key: str(value) for key, value in launch_environment(args).items()})
    if args.use_fsdp:
        # Copying parameters from rank 0 asks for a GPU here and now; FSDP2 has no such option.
        without_gpu = {} if raw["fsdp_config"].get("fsdp_version") == 2 else {"sync_module_states": False, "cpu_ram_efficient_loading": False}
        plugin = FullyShardedDataParallelPlugin(**without_gpu)
        assert plugin.fsdp_version == int(raw["fsdp_config"].get("fsdp_version", 1))
        assert plugin.activation_checkpointing == raw["fsdp_config"]["fsdp_activation_checkpointing"]
        if plugin.fsdp_version == 2:
            assert plugin.reshard_after_forward == raw["fsdp_config"]["fsdp_reshard_after_forward"]
        else:
            assert plugin.sharding_strategy.name == raw["fsdp_config"]["fsdp_sharding_strategy"]
    if raw.get("parallelism_config"):
        assert ParallelismConfig().total_size == raw["num_processes"]
    if args.use_deepspeed:
        assert int(os.environ["ACCELERATE_DEEPSPEED_ZERO_STAGE"]) == raw["deepspeed_config"]["zero_stage"]
    os.environ.clear()
    os.environ.update(before)
    return unknown


def main():
    flags = known_flags()
    failed = 0
    for path in sys.argv[1:]:
        unknown = check(path, flags)
        print(f"{path}: " + ("accepted" if not unknown else "not known: " + ", ".join(unknown)))
        failed += bool(unknown)
    print(f"accelerate {accelerate.__version__}: {len(sys.argv) - 1 - failed} of {len(sys.argv) - 1} accepted")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
