"""Runs the train.py of this folder as it was exported, on the data of TRAINED ("data", "sequence_length", "global_batch", "seed")
in the place of its random tokens and on the CPU; then rank 0 writes the weights that it trained (SAVED) and the formats of
what it held, every rank having compared its replicas.

Usage: trained_script.py, with the arguments of train.py, under what starts it
"""
import collections
import json
import os
import pathlib
import re
import sys

import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch.distributed.tensor import DTensor

ASKED = json.loads(os.environ["TRAINED"])
MASK = (1 << 64) - 1


def drawn(step, index):
    """64 bits for a step and an index in it, as `plan run` draws them (SplitMix64's finaliser)."""
    def mixed(z):
        z = z + 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    return mixed(mixed(mixed(ASKED["seed"]) ^ step) ^ index)


class Sequences(torch.utils.data.Dataset):
    """Those of `plan run`, step by step: one global batch behind the other."""

    def __init__(self, vocabulary, length):
        self.tokens = torch.frombuffer(bytearray(pathlib.Path(ASKED["data"]).read_bytes()), dtype=torch.uint8)
        self.count = len(self.tokens) - int(0.1 * len(self.tokens))  # the rest is held out
        self.length = length

    def __len__(self):
        return 1 << 16

    def __getitem__(self, index):
        step, sequence = divmod(index, ASKED["global_batch"])
        place = drawn(step, sequence) * (self.count - self.length) >> 64
        tokens = self.tokens[place:place + self.length + 1].long()
        return {"input_ids": tokens[:-1], "labels": tokens[:-1], "shift_labels": tokens[1:], "targets": tokens[1:],
                "position_ids": torch.arange(self.length)}


def with_data(text):
    """A user's own data in the place of random tokens, with the members that the script gave its samples."""
    found = re.search(r"def random_tokens\(.*?return (\{.*?\})\n\n    return Tokens\(\)\n", text, flags=re.S)
    members = re.findall(r'"(\w+)": ', found[1])
    mine = ("class Chosen(Sequences):\n    def __getitem__(self, index):\n        sample = super().__getitem__(index)\n"
            f"        return {{name: sample[name] for name in {members}}}\n\n\nrandom_tokens = Chosen\n")
    return text.replace(found[0], mine)


def on_cpu(text):
    """Lightning shards under an accelerator of CUDA alone: the CPU stands for its GPUs."""
    if 'accelerator="gpu"' not in text:
        return text
    from lightning.pytorch.accelerators import CPUAccelerator, CUDAAccelerator

    class Stand(CUDAAccelerator):
        setup_device = setup = teardown = lambda self, *_: None
        get_parallel_devices = staticmethod(lambda devices: [torch.device("cpu", i) for i in devices])
        parse_devices = staticmethod(lambda devices, *_: list(range(devices)))
        get_device_stats = CPUAccelerator.get_device_stats
        is_available = staticmethod(lambda: True)
        auto_device_count = staticmethod(lambda: int(os.environ.get("LOCAL_WORLD_SIZE", 1)))

    globals()["Stand"] = Stand
    from torch.distributed.fsdp import FullyShardedDataParallel
    made = FullyShardedDataParallel.__init__
    FullyShardedDataParallel.__init__ = lambda self, *given, **more: made(self, *given, **{**more, "device_id": torch.device("cpu")})
    return text.replace('accelerator="gpu"', "accelerator=Stand()")


def model_of(names):
    """What was trained, and who gathers its weights."""
    if "accelerator" in names:
        return names["model"], names["accelerator"].get_state_dict
    if "engine" in names:
        return names["engine"].module, gathered_by_deepspeed
    return names["trainer"].strategy.model, gathered_by_torch


def gathered_by_torch(model):
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
    held = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    return {re.sub(r"^(module\.)?model\.", "", name): tensor for name, tensor in held.items()}  # of the LightningModule


def gathered_by_deepspeed(model):
    import deepspeed
    from deepspeed.module_inject.layers import GatherReplacedLayerParams
    held = {}
    for place, module in model.named_modules():
        own = [parameter for _, parameter in module.named_parameters(recurse=False)]
        split = [parameter for parameter in own if hasattr(parameter, "gather_params")]
        with deepspeed.zero.GatheredParameters(own), GatherReplacedLayerParams(split, module, enabled=bool(split)):
            for name, parameter in module.named_parameters(recurse=False):
                held[f"{place}.{name}".lstrip(".")] = parameter.detach().clone()
    return held


def own_name(name):
    for wrapper in ("_forward_module.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.", "module.", "base_model.model."):
        name = name.removeprefix(wrapper) if wrapper.endswith("e.") and name.startswith(wrapper) else name.replace(wrapper, "")
    return name


def compare_replicas(model):
    """Tensors that ranks hold whole are the same on all; of those that are spread, over the ranks that hold copies."""
    for name, parameter in model.named_parameters():
        spread = isinstance(parameter, DTensor)
        is_shard = getattr(parameter, "ds_shape", None) is not None or "_fsdp_wrapped_module" in name
        if not spread and (is_shard or ASKED["split"]):
            continue
        local = (parameter.to_local() if spread else parameter).detach().float().contiguous()
        places = enumerate(parameter.placements) if spread else []
        groups = [parameter.device_mesh.get_group(i) for i, one in places if one.is_replicate()] if spread else [None]
        for group in groups:
            copies = [torch.empty_like(local) for _ in range(dist.get_world_size(group))]
            dist.all_gather(copies, local, group=group)
            if not all(torch.equal(one, local) for one in copies):
                raise SystemExit(f"replicas of {name} differ")


def formats_of(names):
    """Names of what is held to its formats: what the optimizer updates, and its state."""
    found = collections.defaultdict(set)
    optimizer = names.get("optimizer") or (names["engine"].optimizer if "engine" in names else names["trainer"].optimizers[0])
    while hasattr(optimizer, "optimizer") and not isinstance(optimizer, torch.optim.Optimizer):
        optimizer = optimizer.optimizer
    optimizer = getattr(optimizer, "optimizer", optimizer)
    found["updated"] = {str(parameter.dtype) for group in optimizer.param_groups for parameter in group["params"]}
    for state in optimizer.state.values():
        for name, value in state.items():
            if torch.is_tensor(value) and name != "step":
                found["states"].add(str(value.dtype))
    return {name: sorted(values) for name, values in found.items()}


def with_gpus():
    """Accelerate shards on devices that are none of the CPU: it is told of some, which the CPU stands for."""
    from accelerate import DistributedType, state
    prepare, place = state.PartialState._prepare_backend, state.PartialState.set_device

    def prepared(self, cpu=False, sagemaker_dp=False, backend=None):
        return ("gloo", DistributedType.MULTI_GPU) if "LOCAL_RANK" in os.environ else prepare(self, True, sagemaker_dp, backend)

    def placed(self):
        self.device = torch.device("cpu")

    state.PartialState._prepare_backend, state.PartialState.set_device = prepared, placed


def in_order():
    """As the data lies: DeepSpeed's own loader shuffles it."""
    kind = torch.utils.data.distributed.DistributedSampler
    made = kind.__init__
    kind.__init__ = lambda self, *arguments, **more: made(self, *arguments, **{**more, "shuffle": False})


def with_first_adapters():
    """Those of ASKED["adapters"], a folder as PEFT reads it: PEFT draws others."""
    import peft
    from safetensors.torch import load_file
    made = peft.get_peft_model

    def loaded(model, config):
        model = made(model, config)
        weights = load_file(pathlib.Path(ASKED["adapters"]) / "adapter_model.safetensors")
        found = peft.set_peft_model_state_dict(model, weights)
        if found.unexpected_keys or any("lora" in name for name in found.missing_keys):
            raise SystemExit(f"other adapters: {found}")
        return model

    peft.get_peft_model = loaded


def main():
    in_order()
    if ASKED["adapters"]:
        with_first_adapters()
    accelerate = pathlib.Path("accelerate.yaml").read_text() if pathlib.Path("accelerate.yaml").exists() else ""
    if "MULTI_GPU" in accelerate and "parallelism_config" not in accelerate:
        os.environ["ACCELERATE_USE_CPU"] = "true"  # which has replicas
    elif accelerate:
        with_gpus()
    text = on_cpu(with_data(pathlib.Path("train.py").read_text()))
    names = {"__name__": "__main__", "Sequences": Sequences, "Stand": globals().get("Stand")}
    exec(compile(text, "train.py", "exec"), names)
    if "accelerator" in names and dist.is_initialized():
        kind = f"distributed_type: {names['accelerator'].distributed_type.value}\n".replace("MULTI_CPU", "MULTI_GPU")
        if kind not in pathlib.Path("accelerate.yaml").read_text():
            raise SystemExit(f"Accelerate came to {kind}")
    model, gathered = model_of(names)
    if dist.is_initialized():
        compare_replicas(model)
    weights = {name: one.full_tensor() if isinstance(one, DTensor) else one for name, one in gathered(model).items()}
    if int(os.environ.get("RANK", 0)) == 0:
        folder = pathlib.Path(os.environ["SAVED"])
        folder.mkdir(exist_ok=True)
        held = {own_name(name): tensor.contiguous().cpu() for name, tensor in weights.items()}
        save_file({name: tensor.clone() for name, tensor in held.items()}, folder / "model.safetensors")
        (folder / "formats.json").write_text(json.dumps(formats_of(names)))
    if dist.is_initialized():
        dist.barrier()
    sys.stdout.flush()


main()
