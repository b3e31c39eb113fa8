"""Counts the parameters of every network of parameter_counts.json with the reference implementations.

The file is both input and output: name, config, published figures and sources are written by hand; `parameters`,
`active_parameters`, `counted_with` and `agrees` are filled in here. Each network is instantiated on PyTorch's meta
device (shapes only, no memory), so even a trillion parameters take seconds.

    python count_parameters.py           recount and rewrite parameter_counts.json
    python count_parameters.py --check   recount and fail if a stored count differs

Rules of the count:
  * a tensor shared by two modules (tied embeddings) counts once; buffers do not count;
  * a causal language model counts with its head, BERT as BertModel (no MLM head), ViT and ResNet with 1000 classes;
  * a config that says tie_word_embeddings: false has a head of its own, also where the class ties regardless;
  * active parameters = total - (1 - experts per token / experts) x parameters of the routed experts (weights and
    biases). Embeddings, router and shared experts are always active.
Needs torch, torchvision and transformers; reads no network and no weights.
"""
import json
import pathlib
import sys

import torch
import torchvision
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

FILE = pathlib.Path(__file__).with_name("parameter_counts.json")
CLASS_OF = {"bert": "BertModel", "vit": "ViTForImageClassification", "resnet": "ResNetForImageClassification",
            "t5": "T5ForConditionalGeneration"}
EXPERT_COUNT_KEYS = ("num_local_experts", "num_experts", "n_routed_experts")


def instantiate(entry):
    """The model of an entry on the meta device, through the class its `architectures` names."""
    keys = {key: value for key, value in entry["config"].items() if key not in ("model_type", "architectures")}
    config = CONFIG_MAPPING[entry["model_type"]](**keys)
    name = CLASS_OF.get(entry["model_type"], entry["config"]["architectures"][0])
    with torch.device("meta"):
        return getattr(transformers, name)(config)


def count(model, config):
    """(total, routed experts' parameters, whether the class tied a head that the config wants untied)."""
    parameters = dict(model.named_parameters())  # yields a shared tensor once
    total = sum(tensor.numel() for tensor in parameters.values())
    routed = sum(tensor.numel() for name, tensor in parameters.items() if ".experts." in name)
    head = model.get_output_embeddings() if hasattr(model, "lm_head") else None
    tied = head is not None and head.weight is model.get_input_embeddings().weight
    forced = tied and config.get("tie_word_embeddings") is False
    return total + (head.weight.numel() if forced else 0), routed, forced


def active(total, routed, config):
    if not routed:
        return None
    experts = next(config[key] for key in EXPERT_COUNT_KEYS if key in config)
    assert routed % experts == 0, "experts must be of equal size"
    return total - routed // experts * (experts - config["num_experts_per_tok"])


def recount(entry):
    model = instantiate(entry)
    total, routed, forced = count(model, entry["config"])
    counted_with = f"transformers {transformers.__version__} {type(model).__name__} on meta"
    if forced:
        counted_with += ", plus the head that this version ties although the config unties it"
    if entry["model_type"] == "resnet":
        with torch.device("meta"):
            reference = getattr(torchvision.models, entry["name"].replace("-", ""))()
        assert total == sum(tensor.numel() for tensor in reference.parameters())
        counted_with += f"; torchvision {torchvision.__version__} gives the same"
    return {"parameters": total, "active_parameters": active(total, routed, entry["config"]),
            "counted_with": counted_with,
            "agrees": None if entry["published"] is None else total == entry["published"]}


def main():
    data = json.loads(FILE.read_text())
    data["versions"] = {"torch": torch.__version__.split("+")[0], "torchvision": torchvision.__version__.split("+")[0],
                        "transformers": transformers.__version__}
    wrong = []
    for entry in data["entries"]:
        fresh = recount(entry)
        wrong += [entry["name"] for key in ("parameters", "active_parameters") if entry[key] != fresh[key]]
        entry.update(fresh)
        print(f"{entry['name']:28} {fresh['parameters']:>16} {fresh['active_parameters'] or '':>16} {fresh['agrees']}",
              flush=True)
    if "--check" in sys.argv:
        sys.exit(f"differs: {', '.join(wrong)}" if wrong else 0)
    FILE.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
