"""`accelerate launch`'s own reader on accelerate.yaml, down to the objects that a script gets, and the flags of its script
(accepting.py). tests/data/launch/check_accelerate.py reads the file."""
import ast
import sys

from accepting import ROOT, equal, equal_degrees, judge

sys.path.insert(0, str(ROOT / "tests/data/launch"))
import check_accelerate  # noqa: E402


def check(folder, expected, flags):
    unknown = check_accelerate.check(str(folder / "accelerate.yaml"), flags)
    if unknown:
        raise ValueError("not known: " + ", ".join(unknown))
    raw = check_accelerate.yaml.safe_load((folder / "accelerate.yaml").read_text(encoding="utf-8"))
    ast.parse((folder / "train.py").read_text(encoding="utf-8"))
    axes = raw.get("parallelism_config", {})
    tensor = axes.get("parallelism_config_tp_size", 1)
    context = axes.get("parallelism_config_cp_size", 1)
    equal("processes", raw["num_processes"], expected["data_parallel"] * expected["tensor_parallel"] * expected["context_parallel"])
    equal_degrees(expected, {"tensor_parallel": tensor, "context_parallel": context, "pipeline_stages": 1})


if __name__ == "__main__":
    known = check_accelerate.known_flags()
    judge(check_accelerate.accelerate.__version__, lambda folder, expected: check(folder, expected, known))
