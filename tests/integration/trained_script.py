"""Runs the train.py of this folder as it was exported, on the CPU and on the data of `plan run` in the place of its random tokens.
Then the ranks compare their replicas, and rank 0 writes the weights and the number formats of the optimizer to the folder SAVED.

TRAINED is JSON: "data" (a file), "global_batch" and "seed" (of the plan), "split" (whether tensor-parallel ranks hold parts), "adapters"
(a folder of first adapters, or empty).

Usage: trained_script.py, with the arguments of train.py, under what starts it
"""
import json
import os
import pathlib
import re
import sys

import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch.distributed.tensor import DTensor
from torch.optim.optimizer import register_optimizer_step_pre_hook

GRADIENTS = set()
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


def cpu_accelerator():
    """For Lightning, which runs FSDP and DeepSpeed only under an accelerator of CUDA."""
    from lightning.pytorch.accelerators import CPUAccelerator, CUDAAccelerator
    from torch.distributed.fsdp import FullyShardedDataParallel

    class OnCpu(CUDAAccelerator):
        setup_device = setup = teardown = lambda self, *_: None
        get_parallel_devices = staticmethod(lambda devices: [torch.device("cpu", i) for i in devices])
        parse_devices = staticmethod(lambda devices, *_: list(range(devices)))
        get_device_stats = CPUAccelerator.get_device_stats
        is_available = staticmethod(lambda: True)
        auto_device_count = staticmethod(lambda: int(os.environ.get("LOCAL_WORLD_SIZE", 1)))

    made = FullyShardedDataParallel.__init__
    FullyShardedDataParallel.__init__ = lambda self, *given, **more: made(self, *given, **{**more, "device_id": torch.device("cpu")})
    return OnCpu()


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
    """Without what PEFT, FSDP and activation checkpointing put around modules."""
    return re.sub(r"^module\.|_forward_module\.|_fsdp_wrapped_module\.|_checkpoint_wrapped_module\.|base_model\.model\.", "", name)


def compare_replicas(model):
    """Tensors that ranks hold whole are the same on all; those that are spread, on the ranks that hold copies."""
    for name, parameter in model.named_parameters():
        spread = isinstance(parameter, DTensor)
        is_shard = getattr(parameter, "ds_shape", None) is not None or "_fsdp_wrapped_module" in name
        is_part = ASKED["split"] and "norm" not in name  # tensor-parallel ranks hold norms whole
        if not spread and (is_shard or is_part):
            continue
        local = (parameter.to_local() if spread else parameter).detach().float().contiguous()
        places = enumerate(parameter.placements) if spread else []
        groups = [parameter.device_mesh.get_group(i) for i, one in places if one.is_replicate()] if spread else [None]
        for group in groups:
            copies = [torch.empty_like(local) for _ in range(dist.get_world_size(group))]
            dist.all_gather(copies, local, group=group)
            if not all(torch.equal(one, local) for one in copies):
                raise SystemExit(f"replicas of {name} differ")


def optimizer_of(names):
    optimizer = names.get("optimizer") or (names["engine"].optimizer if "engine" in names else names["trainer"].optimizers[0])
    while hasattr(optimizer, "optimizer"):  # what frameworks wrap around PyTorch's own
        optimizer = optimizer.optimizer
    return optimizer


def note_gradients(optimizer, *_):
    GRADIENTS.update(str(p.grad.dtype) for group in optimizer.param_groups for p in group["params"] if p.grad is not None)


def formats_of(optimizer):
    """Of what the optimizer updates, reads and keeps."""
    states = [value for state in optimizer.state.values() for name, value in state.items() if torch.is_tensor(value) and name != "step"]
    return {"updated": sorted({str(p.dtype) for group in optimizer.param_groups for p in group["params"]}),
            "gradients": sorted(GRADIENTS), "states": sorted({str(value.dtype) for value in states})}


def with_gpus():
    """For Accelerate, which shards only on GPUs: it finds several, each of which is the CPU."""
    from accelerate import DistributedType, state
    prepare = state.PartialState._prepare_backend

    def prepared(self, cpu=False, sagemaker_dp=False, backend=None):
        return ("gloo", DistributedType.MULTI_GPU) if "LOCAL_RANK" in os.environ else prepare(self, True, sagemaker_dp, backend)

    def placed(self):
        self.device = torch.device("cpu")

    state.PartialState._prepare_backend, state.PartialState.set_device = prepared, placed


def in_order():
    """DeepSpeed's own loader shuffles; `plan run` does not."""
    kind = torch.utils.data.distributed.DistributedSampler
    made = kind.__init__
    kind.__init__ = lambda self, *arguments, **more: made(self, *arguments, **{**more, "shuffle": False})


def with_first_adapters():
    """Adapters begin as those of `plan run`, not as PEFT draws them."""
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
        os.environ["ACCELERATE_USE_CPU"] = "true"  # DistributedDataParallel runs on the CPU itself
    elif accelerate:
        with_gpus()
    register_optimizer_step_pre_hook(note_gradients)
    text = with_data(pathlib.Path("train.py").read_text()).replace('accelerator="gpu"', "accelerator=cpu_accelerator()")
    names = {"__name__": "__main__", "Sequences": Sequences, "cpu_accelerator": cpu_accelerator}
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
        (folder / "formats.json").write_text(json.dumps(formats_of(optimizer_of(names))))
    if dist.is_initialized():
        dist.barrier()
    sys.stdout.flush()


main()
