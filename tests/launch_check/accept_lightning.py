"""Lightning's own strategy and Trainer made of the calls in train.py (accepting.py; tests/data/launch/check_lightning.py)."""
import ast
import sys

from accepting import ROOT, equal, equal_degrees, judge

sys.path.insert(0, str(ROOT / "tests/data/launch"))
import check_lightning  # noqa: E402


def keywords_of(call):
    return {one.arg: ast.literal_eval(one.value) for one in call.keywords if isinstance(one.value, ast.Constant)}


def check(folder, expected):
    path = str(folder / "train.py")
    check_lightning.check(path)
    tree = ast.parse((folder / "train.py").read_text(encoding="utf-8"), path)
    trainer = keywords_of(check_lightning.assigned(tree, "trainer"))
    strategy = keywords_of(check_lightning.assigned(tree, "strategy"))
    world = trainer["devices"] * trainer.get("num_nodes", 1)
    tensor = strategy.get("tensor_parallel_size", 1)
    equal("ranks of the strategy", strategy.get("data_parallel_size", world // tensor) * tensor, world)
    equal_degrees(expected, {"tensor_parallel": tensor, "data_parallel": world // tensor,
                             "micro_batches": trainer.get("accumulate_grad_batches", 1)})


if __name__ == "__main__":
    judge(check_lightning.L.__version__, check)
