"""PyTorch's own names on train.py: imports are made, calls of PyTorch's functions bound to their signatures, the schedule looked
up, and the constants that the script acts on compared (accepting.py). Nothing is trained here: .ci's pytorch_training_test does."""
import ast
import inspect

from accepting import equal, equal_degrees, judge

CONSTANTS = {"TENSOR_PARALLEL": "tensor_parallel", "PIPELINE_STAGES": "pipeline_stages", "VIRTUAL_STAGES": "virtual_stages",
             "DATA_PARALLEL": "data_parallel", "ZERO_STAGE": "zero_stage", "MICRO_BATCH": "micro_batch",
             "MICRO_BATCHES": "micro_batches", "SEQUENCE_PARALLEL": "sequence_parallel"}


def imported_names(tree):
    names = {}
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    exec(compile(ast.Module(imports, []), "train.py", "exec"), names)
    return names


def called(node, names):
    """The function of PyTorch that a call is of; None for others."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    inner = called(node.value, names) if isinstance(node, ast.Attribute) else None
    if inner is None:
        return None
    return getattr(inner, node.attr) if inspect.ismodule(inner) or inspect.isclass(inner) else None


def check_call(call, names):
    """Every keyword is one of the function's."""
    function = called(call.func, names)
    if not callable(function) or not call.keywords:
        return
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return  # written in C++
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    unknown = [one.arg for one in call.keywords if one.arg and one.arg not in parameters]
    equal(f"unknown arguments of {ast.unparse(call.func)}", unknown, [])


def check(folder, expected):
    from torch.distributed.pipelining.schedules import get_schedule_class

    tree = ast.parse((folder / "train.py").read_text(encoding="utf-8"))
    names = imported_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            check_call(node, names)
    values = {node.targets[0].id: ast.literal_eval(node.value) for node in tree.body
              if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)}
    if values["SCHEDULE"]:
        get_schedule_class(values["SCHEDULE"])
    equal_degrees(expected, {key: values[name] for name, key in CONSTANTS.items()})


if __name__ == "__main__":
    import torch

    judge(torch.__version__.split("+")[0], check)
