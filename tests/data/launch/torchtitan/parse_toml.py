#!/usr/bin/env python3
"""Parses TOML files with torchtitan v0.2.2's own configuration code and prints what it understood, as JSON.

Run in development, with torchtitan 0.2.2, tyro and tomli installed (no PyTorch needed):
    pip install --no-deps torchtitan==0.2.2; pip install tyro tomli
    python3 tests/data/launch/torchtitan/parse_toml.py FILE...
Unknown keys are refused there, so that a file that passes holds keys of that release alone.
"""
import dataclasses
import importlib.util
import json
import logging
import pathlib
import sys
import types


def own_modules():
    """torchtitan.config without what imports PyTorch: its __init__ and the logger."""
    found = importlib.util.find_spec("torchtitan")
    package = pathlib.Path(list(found.submodule_search_locations)[0])
    for name in ("torchtitan", "torchtitan.config", "torchtitan.tools"):
        module = types.ModuleType(name)
        module.__path__ = [str(package.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = module
    if importlib.util.find_spec("torch") is None:
        sys.modules["torch"] = types.ModuleType("torch")  # which job_config.py needs only where it saves a config
    log = types.ModuleType("torchtitan.tools.logging")
    log.logger = logging.getLogger("torchtitan")
    sys.modules[log.__name__] = log
    job_config = importlib.import_module("torchtitan.config.job_config")
    if not hasattr(sys.modules["torch"], "device"):
        del sys.modules["torch"]  # tyro asks for it only where it is loaded
    sys.modules["torchtitan.config"].JobConfig = job_config.JobConfig
    return importlib.import_module("torchtitan.config.manager")


def main():
    manager = own_modules()
    for path in sys.argv[1:]:
        config = manager.ConfigManager().parse_args(["--job.config_file", path])
        print(json.dumps({"file": pathlib.Path(path).name, **dataclasses.asdict(config)}, indent=1, default=str))


main()
