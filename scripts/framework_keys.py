#!/usr/bin/env python3
"""Lists the keys that a release of a training framework takes, as its own sources define them.

Usage: framework_keys.py FRAMEWORK RELEASE SAID SOURCE...

SOURCE is a folder, a wheel or an archive of the release (several are read as one), SAID the words that name it in the
list. Nothing of it is imported or run: parsers of arguments, dataclasses and signatures are read from the text. Writes
planner/frameworks/FOLDER/releases/FRAMEWORK-RELEASE.json: {"framework", "release", "source", "keys": name to what it may
hold} (python_sources.py), in the order of names. tests/unit/planner/frameworks/release_keys_test.cpp holds the tables of
planner/frameworks against these lists; docs/launch-files.md says what to do where a release comes out.
"""
import ast
import json
import pathlib
import sys

from python_sources import Sources, dotted, keyword, last_of, literal

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAG_ACTIONS = {"store_true", "store_false", "BooleanOptionalAction"}


def choices_of(node, sources, path):
    chosen = literal(node)
    if chosen is not None:
        return [str(one) for one in chosen]
    if isinstance(node, ast.Call) and dotted(node.func) == "list" and node.args:
        return sources.enum_members(dotted(node.args[0]), path)
    return None


def argument_kind(keywords, sources, path):
    """Of the keywords of add_argument."""
    action = last_of(str(literal(keywords.get("action")) or dotted(keywords.get("action"))))
    if action in FLAG_ACTIONS:
        return "flag"
    choices = choices_of(keywords["choices"], sources, path) if "choices" in keywords else None
    if choices:
        return choices
    if "nargs" in keywords:
        return "list"
    return last_of(dotted(keywords["type"])) or "any" if "type" in keywords else "str"


def added_arguments(tree, sources, path):
    """Flags to kinds, and the name of the variable that each was added to, of every add_argument in the tree."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "add_argument":
            continue
        names = [one for one in map(literal, call.args) if isinstance(one, str) and one.startswith("-")]
        keywords = {one.arg: one.value for one in call.keywords}
        kind = argument_kind(keywords, sources, path)
        if last_of(dotted(keywords.get("action"))) == "BooleanOptionalAction":
            names += ["--no-" + one[2:] for one in names if one.startswith("--")]
        for name in names:
            yield name, kind, dotted(call.func.value)


def field_default(value):
    """Of a dataclass's field, as argparse would be given it."""
    if isinstance(value, ast.Call) and last_of(dotted(value.func)) == "field":
        return literal(keyword(value, "default"))
    return literal(value)


def field_metadata(value):
    """The dictionary "argparse_meta" of a field: name to node."""
    if not isinstance(value, ast.Call) or not isinstance(keyword(value, "metadata"), ast.Dict):
        return {}
    for key, inner in zip(keyword(value, "metadata").keys, keyword(value, "metadata").values):
        if literal(key) == "argparse_meta" and isinstance(inner, ast.Dict):
            return {literal(k): v for k, v in zip(inner.keys, inner.values)}
    return {}


def is_made(value):
    return not (isinstance(value, ast.Call) and literal(keyword(value, "init"), True) is False)


def flags_of_field(name, field, sources):
    """As megatron/training/argument_utils.py makes flags of a field: a bool that is not off is switched off."""
    path, annotation, value = field
    kind = sources.kind(annotation, path)
    names = ["--" + name.replace("_", "-")]
    if kind == "bool":
        kind = "flag"
        if field_default(value) is not False:
            names = ["--no" + names[0][1:], "--disable" + names[0][1:]]
    meta = field_metadata(value)
    if meta.keys() & {"action", "choices", "nargs", "type"}:
        kind = argument_kind(meta, sources, path)
    return {one: kind for one in literal(meta.get("arg_names")) or names}


def lists_of_words(tree):
    """Every list of words that a variable is given, by the variable's name."""
    assigned = [n for n in ast.walk(tree) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
    return {n.targets[0].id: literal(n.value) for n in assigned if isinstance(literal(n.value), list)}


def megatron_lm(sources):
    files = [p for p in sources.texts if p.endswith("megatron/arguments.py")]  # until core_v0.6
    path = files[0] if files else sources.file("megatron/training/arguments.py")
    tree = sources.tree(path)
    words = lists_of_words(tree)
    keys = {}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or dotted(call.func) != "ArgumentGroupFactory":
            continue
        node = keyword(call, "exclude")
        left_out = words.get(dotted(node)) or literal(node) or []
        for name, field in sources.fields(*sources.class_named(dotted(call.args[0]), path)).items():
            if name not in left_out and is_made(field[2]):
                keys.update(flags_of_field(name, field, sources))
    keys.update({name: kind for name, kind, _ in added_arguments(tree, sources, path)})
    return keys


def nested(sources, path, name, prefix="", depth=2):
    """Fields of a class, and of the classes that they are of: "training.steps"."""
    keys = {}
    for field, (file, annotation, _) in sources.fields(*sources.class_in(path, name)).items():
        kind = sources.kind(annotation, file)
        keys[prefix + field] = kind
        for part in ast.walk(annotation) if depth > 0 else ():
            found = sources.class_named(dotted(part), file) if dotted(part) else None
            if found and sources.fields(*found):
                keys.update(nested(sources, found[0], dotted(part), f"{prefix}{field}.", depth - 1))
    return keys


def megatron_bridge(sources):
    keys = nested(sources, sources.file("megatron/bridge/training/config.py"), "ConfigContainer", depth=1)
    # Recipes hold providers of models that are GPTModelProvider, or made of it.
    provider = sources.file("megatron/bridge/models/gpt_provider.py")
    return {**keys, **nested(sources, provider, "GPTModelProvider", "model.", 0)}


DEEPSPEED_SECTIONS = {
    "zero_optimization": "DeepSpeedZeroConfig",
    "zero_optimization.offload_param": "DeepSpeedZeroOffloadParamConfig",
    "zero_optimization.offload_optimizer": "DeepSpeedZeroOffloadOptimizerConfig",
    "bf16": "DeepSpeedBF16Config", "fp16": "DeepSpeedFP16Config", "tensor_parallel": "TPTrainingConfig",
    "expert_parallel": "AutoEPConfig",
}
# Words of constants.py that are keys inside of a section: prefix of the constant's name, section.
DEEPSPEED_WORDS = {
    "OPTIMIZER_": "optimizer", "SCHEDULER_": "scheduler", "GRAD_ACCUM_": "data_types", "FP16_": "fp16",
    "BFLOAT16_": "bf16", "ACT_CHKPT_": "activation_checkpointing", "CHECKPOINT_": "checkpoint", "TORCH_AUTOCAST_": "torch_autocast",
}
SCHEDULERS = ("WarmupLR", "WarmupDecayLR", "WarmupCosineLR", "OneCycle", "LRRangeTest")


def constants(sources):
    """Names of DeepSpeed's constants to the words that they are; documentation is longer than a word."""
    words = {}
    for path in sources.texts:
        if "deepspeed/" not in path or not path.endswith(("constants.py", "config.py")):
            continue
        for node in sources.tree(path).body:
            word = literal(node.value) if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None
            if isinstance(word, str) and word.isidentifier():
                words[node.targets[0].id] = word
    return words


def model_fields(sources, name):
    """Of a pydantic model or a dataclass, none where the release lacks it; a field with an alias is read by that too."""
    keys = {}
    found = sources.class_named(name, sources.file("deepspeed/runtime/config.py"))
    for field, (path, annotation, value) in sources.fields(*found).items() if found else ():
        kind = sources.kind(annotation, path)
        alias = literal(keyword(value, "alias")) if isinstance(value, ast.Call) else None
        keys.update({one: kind for one in (field, alias) if one})
    return keys


def deepspeed_words(sources, words):
    """What config.py and __init__.py look up in the whole file: words in quotes and constants that name one."""
    found = set()
    for file in ("deepspeed/runtime/config.py", "deepspeed/__init__.py"):
        for node in ast.walk(sources.tree(sources.file(file))):
            looked_up = []
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
                looked_up = [node.left]
            elif isinstance(node, ast.Subscript):
                looked_up = [node.slice]
            elif isinstance(node, ast.Call) and last_of(dotted(node.func)) in ("get", "get_scalar_param"):
                looked_up = node.args[:2]
            for one in looked_up:
                word = words.get(dotted(one)) or literal(one)
                if isinstance(word, str) and word.isidentifier():
                    found.add(word)
    return found


def deepspeed(sources):
    words = constants(sources)
    keys = {word: "any" for word in set(words.values()) | deepspeed_words(sources, words)}
    for prefix, section in DEEPSPEED_WORDS.items():
        inside = {word for name, word in words.items() if name.startswith(prefix)}
        keys.update({f"{section}.{word}": "any" for word in inside})
    keys.update({f"{section}.{words['TYPE']}": "any" for section in ("optimizer", "scheduler")})
    for section, name in DEEPSPEED_SECTIONS.items():
        fields = model_fields(sources, name)
        keys.update({section: "dict"} if fields else {})
        keys.update({f"{section}.{field}": kind for field, kind in fields.items()})
    for name in SCHEDULERS:
        taken = sources.arguments(sources.file("deepspeed/runtime/lr_schedules.py"), name)
        keys.update({f"scheduler.params.{one}": "any" for one in taken if one != "optimizer"})
    keys.update({f"pipeline.{one}": "any" for one in pipeline_keys(sources)})
    return keys


def pipeline_keys(sources):
    path, function = sources.function(sources.file("deepspeed/runtime/config.py"), "get_pipeline_config")
    return {literal(key) for n in ast.walk(function) if isinstance(n, ast.Dict) for key in n.keys}


def torchtitan(sources):
    """Until 0.2 of a file of TOML; then of a recipe in Python."""
    endings = ("torchtitan/config/job_config.py", "torchtitan/config_manager.py")
    old = [path for path in sources.texts if path.endswith(endings)]
    if old:
        return nested(sources, old[0], "JobConfig", depth=3)
    return nested(sources, sources.file("torchtitan/trainer.py"), "Trainer.Config")


ACCELERATE_SECTIONS = {"fsdp_args": "fsdp_config", "deepspeed_args": "deepspeed_config", "fp8_args": "fp8_config",
                       "parallelism_config_args": "parallelism_config"}


def accelerate(sources):
    """Of the file that `accelerate launch --config_file` reads: its sections hold flags of `accelerate launch`."""
    keys = nested(sources, sources.file("accelerate/commands/config/config_args.py"), "ClusterConfig", depth=0)
    path = sources.file("accelerate/commands/launch.py")
    for flag, kind, group in added_arguments(sources.tree(path), sources, path):
        if group in ACCELERATE_SECTIONS:
            key = flag.lstrip("-").replace("-", "_")
            keys[f"{ACCELERATE_SECTIONS[group]}.{key.removeprefix('fp8_')}"] = kind
    return keys


CALLS = {
    "lightning": {
        "Trainer": "lightning/pytorch/trainer/trainer.py", "FSDPStrategy": "lightning/pytorch/strategies/fsdp.py",
        "DDPStrategy": "lightning/pytorch/strategies/ddp.py", "DeepSpeedStrategy": "lightning/pytorch/strategies/deepspeed.py",
        "ModelParallelStrategy": "lightning/pytorch/strategies/model_parallel.py",
        "ModelCheckpoint": "lightning/pytorch/callbacks/model_checkpoint.py",
        "seed_everything": "lightning/fabric/utilities/seed.py"},
    "pytorch": {
        "fully_shard": "torch/distributed/fsdp/_fully_shard/_fully_shard.py",
        "MixedPrecisionPolicy": "torch/distributed/fsdp/_fully_shard/_fsdp_api.py",
        "DistributedDataParallel": "torch/nn/parallel/distributed.py",
        "init_device_mesh": "torch/distributed/device_mesh.py", "DataLoader": "torch/utils/data/dataloader.py",
        "DistributedSampler": "torch/utils/data/distributed.py",
        "PipelineStage": "torch/distributed/pipelining/stage.py",
        "Schedule1F1B": "torch/distributed/pipelining/schedules.py",
        "ScheduleInterleaved1F1B": "torch/distributed/pipelining/schedules.py",
        "parallelize_module": "torch/distributed/tensor/parallel/api.py",
        "checkpoint": "torch/utils/checkpoint.py", "clip_grad_norm_": "torch/nn/utils/clip_grad.py",
        "AdamW": "torch/optim/adamw.py", "Adam": "torch/optim/adam.py", "SGD": "torch/optim/sgd.py",
        "Muon": "torch/optim/_muon.py", "Adagrad": "torch/optim/adagrad.py", "RMSprop": "torch/optim/rmsprop.py"},
}


def dataclass_arguments(sources, path, name):
    found = sources.class_in(path, name)
    made = found and any(isinstance(n, ast.FunctionDef) and n.name == "__init__" for n in found[1].body)
    if found and not made and sources.fields(*found):
        return {field: sources.kind(annotation, file) for field, (file, annotation, _) in sources.fields(*found).items()}
    return sources.arguments(path, name)


def calls(framework):
    def keys_of(sources):
        return {f"{name}.{argument}": kind for name, file in CALLS[framework].items()
                for argument, kind in dataclass_arguments(sources, sources.file(file), name).items()}
    return keys_of


READERS = {"megatron-lm": megatron_lm, "megatron-bridge": megatron_bridge, "deepspeed": deepspeed, "torchtitan": torchtitan,
           "accelerate": accelerate, "lightning": calls("lightning"), "pytorch": calls("pytorch")}


def list_text(framework, release, said, keys):
    """A key a line, so that two releases can be compared as text."""
    lines = [f"  {json.dumps(name)}: {json.dumps(kind)}" for name, kind in sorted(keys.items())]
    head = {"framework": framework, "release": release, "source": said}
    named = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    return "{\n" + ",\n".join(named) + ',\n "keys": {\n' + ",\n".join(lines) + "\n }\n}\n"


def list_path(framework, release, root=ROOT):
    """Beside the lists of its other releases; of the first one, in the folder of its name."""
    frameworks = root / "planner/frameworks"
    others = sorted(frameworks.glob(f"*/releases/{framework}-*.json"))
    folder = others[0].parent if others else frameworks / framework / "releases"
    return folder / f"{framework}-{release}.json"


def main():
    if len(sys.argv) < 5 or sys.argv[1] not in READERS:
        raise SystemExit(f"usage: framework_keys.py FRAMEWORK RELEASE SAID SOURCE...; FRAMEWORK is one of {', '.join(READERS)}")
    framework, release, said = sys.argv[1:4]
    keys = READERS[framework](Sources(sys.argv[4:]))
    path = list_path(framework, release)
    path.parent.mkdir(exist_ok=True)
    path.write_text(list_text(framework, release, said, keys), encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: {len(keys)} keys")


if __name__ == "__main__":
    sys.exit(main())
