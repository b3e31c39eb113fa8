#!/usr/bin/env python3
"""scripts/framework_keys.py on small sources whose keys are known, the lists that it wrote, and the exported scripts' calls."""
import ast
import json
import pathlib
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import framework_keys  # noqa: E402
from python_sources import Sources  # noqa: E402

LISTS = sorted((ROOT / "planner/frameworks").glob("*/releases/*.json"))

ARGUMENTS = """
from megatron.training.config import TrainingConfig
from megatron.core.enums import Backend

def _add(parser):
    exclude = ["hidden"]
    group = ArgumentGroupFactory(TrainingConfig, exclude=exclude).build_group(parser, "training")
    group.add_argument('--lr', type=float, default=None)
    group.add_argument('--optimizer', type=str, choices=['adam', 'sgd'])
    group.add_argument('--backend', type=lambda one: Backend[one], choices=list(Backend))
    group.add_argument('--bf16', '--bfloat16', action='store_true')
    group.add_argument('--timed', action=argparse.BooleanOptionalAction)
    group.add_argument('--split', nargs='*')
"""
CONFIG = """
@dataclass
class Base:
    micro_batch_size: int | None = None

@dataclass(kw_only=True)
class TrainingConfig(Base):
    hidden: int = 1
    eager: bool = True
    manual_gc: bool = False
    level: Literal[0, 1] = 0
    schedule: Optional[str] = None
    rampup: list[int] | None = field(default=None, metadata={"argparse_meta": {"nargs": 3, "arg_names": ["--ramp"]}})
    made: int = field(init=False)
"""
ENUMS = "class Backend(enum.Enum):\n    flash = 1\n    fused = 2\n"


def sources_of(files):
    """Through a wheel, as releases come."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "release.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return Sources([path])


class FrameworkKeys(unittest.TestCase):
    def test_flags_of_a_parser_and_of_the_dataclasses_that_it_is_made_of(self):
        keys = framework_keys.megatron_lm(sources_of({
            "megatron/training/arguments.py": ARGUMENTS, "megatron/core/enums.py": ENUMS,
            "megatron/training/config/__init__.py": "from .training_config import TrainingConfig\n",
            "megatron/training/config/training_config.py": CONFIG}))
        self.assertEqual(keys, {
            "--micro-batch-size": "int", "--no-eager": "flag", "--disable-eager": "flag", "--manual-gc": "flag", "--level": [0, 1],
            "--schedule": "str", "--ramp": "list", "--lr": "float", "--optimizer": ["adam", "sgd"], "--backend": ["flash", "fused"],
            "--bf16": "flag", "--bfloat16": "flag", "--timed": "flag", "--no-timed": "flag", "--split": "list"})

    def test_sections_of_nested_dataclasses_and_classes_of_the_same_name(self):
        keys = framework_keys.torchtitan(sources_of({
            "torchtitan/config/job_config.py": "@dataclass\nclass Training:\n    steps: int = 1\n    dtype: Literal['a'] | None = None\n"
                                               "@dataclass\nclass JobConfig:\n    training: Training = field()\n",
            "torchtitan/experiments/job_config.py": "@dataclass\nclass Training:\n    other: int = 1\n"}))
        self.assertEqual(keys, {"training": "Training", "training.steps": "int", "training.dtype": ["a"]})

    def test_arguments_of_calls_are_those_of_the_last_definition_behind_overloads(self):
        sources = sources_of({"a.py": "@overload\ndef f(x: int): ...\ndef f(x, *, mesh: Optional[int] = None): ...\n"
                                      "class B:\n    def __init__(self, z: str): ...\nclass C(B): pass\n"})
        self.assertEqual(sources.arguments("a.py", "f"), {"x": "any", "mesh": "int"})
        self.assertEqual(sources.arguments("a.py", "C"), {"z": "str"})

    def test_a_file_that_the_sources_lack_is_named(self):
        with self.assertRaisesRegex(SystemExit, "no file megatron/training/arguments.py in the sources"):
            framework_keys.megatron_lm(sources_of({"other.py": ""}))

    def test_lists_are_as_the_script_writes_them(self):
        self.assertGreater(len(LISTS), 20)
        for path in LISTS:
            text = path.read_text(encoding="utf-8")
            kept = json.loads(text)
            written = framework_keys.list_text(kept["framework"], kept["release"], kept["source"], kept["keys"])
            self.assertEqual(text, written, path)
            self.assertEqual(path, framework_keys.list_path(kept["framework"], kept["release"]))

    def test_lists_hold_what_their_release_is_known_for(self):
        def keys_of(framework, release):
            return json.loads(framework_keys.list_path(framework, release).read_text(encoding="utf-8"))["keys"]

        # Each is one line of the release's own notes or sources.
        self.assertIn("te", keys_of("megatron-lm", "core_v0.19.0")["--cross-entropy-fusion-impl"])
        self.assertIn("--use-custom-fsdp", keys_of("megatron-lm", "core_v0.13.0"))
        self.assertNotIn("--use-custom-fsdp", keys_of("megatron-lm", "core_v0.14.0"))
        self.assertNotIn("expert_parallel.autoep_size", keys_of("deepspeed", "0.18.9"))
        self.assertIn("expert_parallel.autoep_size", keys_of("deepspeed", "0.19.8"))
        self.assertIn("parallelism_config.parallelism_config_cp_size", keys_of("accelerate", "1.15.0"))
        self.assertNotIn("parallelism_config.parallelism_config_cp_size", keys_of("accelerate", "1.9.0"))

    def test_exported_scripts_call_with_arguments_of_the_release(self):
        for framework, release in (("pytorch", "2.13"), ("lightning", "2.6.6")):
            keys = json.loads(framework_keys.list_path(framework, release).read_text(encoding="utf-8"))["keys"]
            functions = {key.split(".")[0] for key in keys}
            held = 0
            for script in (ROOT / "tests/golden/launch" / framework).glob("*/train.py"):
                for call in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
                    name = framework_keys.last_of(framework_keys.dotted(call.func)) if isinstance(call, ast.Call) else ""
                    for one in call.keywords if name in functions else ():
                        held += 1
                        self.assertTrue(one.arg is None or f"{name}.{one.arg}" in keys, f"{script}: {name} has no {one.arg}")
            self.assertGreater(held, 5, framework)


if __name__ == "__main__":
    unittest.main()
