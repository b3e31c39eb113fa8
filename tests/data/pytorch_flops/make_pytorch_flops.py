"""Counts the floating-point operations of one training step with PyTorch's own counter.

Every case runs one forward and one backward pass in float32 on the CPU under torch.utils.flop_counter.FlopCounterMode,
with random weights, dropout 0 and `labels = input ids`. Attention is eager, so every matrix product is an operator of
its own and the whole sequence x sequence square is counted (no causal saving).

What the counter counts: matrix products and convolutions, a multiply-add as two; everything else is 0 (softmax, norms,
activations, embedding look-ups, the loss, bias additions). Input ids and images need no gradient, so the first
convolution has no input gradient. The optimizer is not run.

    python make_pytorch_flops.py         rewrite pytorch_flops.json
    python make_pytorch_flops.py --check fail if a fresh count differs

Needs torch, torchvision and transformers; reads no network and no weights.
"""
import json
import pathlib
import sys

import torch
import torchvision
import transformers
from torch.utils.flop_counter import FlopCounterMode

FILE = pathlib.Path(__file__).with_name("pytorch_flops.json")

GPT2 = {"model_type": "gpt2", "activation_function": "gelu_new", "n_embd": 64, "n_layer": 2, "n_head": 4,
        "n_positions": 32, "vocab_size": 512, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
GPT2_124M = {**GPT2, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}
LLAMA = {"model_type": "llama", "hidden_act": "silu", "hidden_size": 64, "intermediate_size": 176,
         "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32,
         "vocab_size": 512, "tie_word_embeddings": False, "attention_dropout": 0.0}
MIXTRAL = {**LLAMA, "model_type": "mixtral", "num_hidden_layers": 2, "num_local_experts": 4, "num_experts_per_tok": 2,
           "output_router_logits": False}
BERT = {"model_type": "bert", "hidden_act": "gelu", "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 32, "type_vocab_size": 2, "vocab_size": 512,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
VIT = {"model_type": "vit", "hidden_act": "gelu", "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2,
       "num_attention_heads": 4, "image_size": 32, "patch_size": 8, "num_channels": 3, "qkv_bias": True,
       "num_labels": 10, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
T5 = {"model_type": "t5", "d_model": 64, "d_ff": 128, "d_kv": 16, "num_heads": 4, "num_layers": 2,
      "num_decoder_layers": 2, "vocab_size": 512, "feed_forward_proj": "relu", "relative_attention_num_buckets": 32,
      "dropout_rate": 0.0, "decoder_start_token_id": 0, "pad_token_id": 0}


def resnet_config(layer_type, depths, hidden_sizes):
    return {"model_type": "resnet", "layer_type": layer_type, "depths": depths, "hidden_sizes": hidden_sizes,
            "embedding_size": 64, "num_channels": 3, "hidden_act": "relu", "downsample_in_first_stage": False,
            "num_labels": 1000}


# name, class, config, batch, tokens per sequence (null for images), image side, prefixes of frozen parameters, note
CASES = [
    ("gpt2-small-2l", "GPT2LMHeadModel", GPT2, 2, 32, None, [], None),
    ("gpt2-124m", "GPT2LMHeadModel", GPT2_124M, 1, 128, None, [], None),
    ("llama-gqa-3l-untied", "LlamaForCausalLM", LLAMA, 2, 32, None, [], None),
    ("llama-gqa-3l-tied", "LlamaForCausalLM", {**LLAMA, "tie_word_embeddings": True}, 2, 32, None, [],
     "The same products as untied: tying adds two gradients, it saves no product."),
    ("llama-gqa-3l-frozen-embedding", "LlamaForCausalLM", LLAMA, 2, 32, None, ["model.embed_tokens."],
     "A frozen embedding has no weight gradient to skip (the look-up counts 0), but the input of layer 0 now needs no "
     "gradient: the query, key, value, gate and up products of layer 0 still get one through the trained norm weight."),
    ("llama-gqa-3l-frozen-first", "LlamaForCausalLM", LLAMA, 2, 32, None, ["model.embed_tokens.", "model.layers.0."],
     "Embedding and layer 0 frozen: layer 0 has no backward pass at all. Layer 1 keeps every input gradient, because "
     "its first norm weight is trained."),
    ("llama-gqa-3l-frozen-middle", "LlamaForCausalLM", LLAMA, 2, 32, None, ["model.layers.1."],
     "Only layer 1 frozen: it keeps its input gradients and drops its weight gradients."),
    ("mixtral-2l-top2", "MixtralForCausalLM", MIXTRAL, 2, 32, None, [],
     "Top 2 of 4 experts without dropping: the experts' products sum to tokens x 2 however the tokens are routed, so "
     "the count does not depend on the weights."),
    ("mixtral-2l-top4", "MixtralForCausalLM", {**MIXTRAL, "num_experts_per_tok": 4}, 2, 32, None, [],
     "All 4 experts chosen by every token."),
    ("bert-2l-mlm", "BertForMaskedLM", BERT, 2, 32, None, [],
     "With the masked-language-model head on every token and without the pooler."),
    ("t5-2l", "T5ForConditionalGeneration", T5, 2, 32, None, [], "32 encoder tokens and 32 decoder tokens; tied head."),
    ("vit-2l", "ViTForImageClassification", VIT, 2, None, 32, [], "16 patches and a class token: 17 tokens."),
    ("resnet-18", "torchvision", resnet_config("basic", [2, 2, 2, 2], [64, 128, 256, 512]), 1, None, 224, [], None),
    ("resnet-50", "torchvision", resnet_config("bottleneck", [3, 4, 6, 3], [256, 512, 1024, 2048]), 1, None, 224, [],
     None),
]


def build(name, cls, config):
    torch.manual_seed(0)
    if cls == "torchvision":
        return getattr(torchvision.models, name.replace("-", ""))(weights=None)
    model_type = config["model_type"]
    keys = {key: value for key, value in config.items() if key != "model_type"}
    settings = transformers.AutoConfig.for_model(model_type, **keys)
    settings.use_cache = False
    extra = {"experts_implementation": "eager"} if model_type == "mixtral" else {}
    return getattr(transformers, cls)._from_config(settings, attn_implementation="eager", **extra)


def loss_of(model, cls, config, batch, seq, image):
    if image:
        pixels = torch.randn(batch, 3, image, image)
        labels = torch.zeros(batch, dtype=torch.long)
        if cls == "torchvision":
            return torch.nn.functional.cross_entropy(model(pixels), labels)
        return model(pixel_values=pixels, labels=labels).loss
    ids = torch.randint(1, config["vocab_size"], (batch, seq))
    return model(input_ids=ids, labels=ids).loss


def by_operator(counter):
    """FLOPs per aten operator, and per module as the counter's own tree names it."""
    counts = counter.get_flop_counts()
    operators = {str(operator).split(".")[-1]: flops for operator, flops in counts.pop("Global").items()}
    return dict(sorted(operators.items())), counts


def by_module(model, counts):
    """FLOPs of each leaf module that has any; parents repeat their children and are left out."""
    leaves = {name for name, module in model.named_modules() if not any(True for _ in module.children())}
    root = type(model).__name__
    return {leaf: sum(flops.values()) for leaf in sorted(leaves) if (flops := counts.get(f"{root}.{leaf}"))}


def measure(case):
    name, cls, config, batch, seq, image, frozen, note = case
    model = build(name, cls, config).train()
    for parameter_name, parameter in model.named_parameters():
        parameter.requires_grad = not any(parameter_name.startswith(prefix) for prefix in frozen)
    with FlopCounterMode(display=False) as forward:
        loss = loss_of(model, cls, config, batch, seq, image)
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    forward_operators, modules = by_operator(forward)
    parameters = list(model.parameters())
    return {
        "name": name, "class": f"torchvision.models.{name.replace('-', '')}" if cls == "torchvision" else cls,
        "config": config, "batch": batch, "seq": seq, "image": image, "frozen": frozen, "note": note,
        "parameters": sum(p.numel() for p in parameters),
        "trainable_parameters": sum(p.numel() for p in parameters if p.requires_grad),
        "forward_flops": forward.get_total_flops(), "backward_flops": backward.get_total_flops(),
        "total_flops": forward.get_total_flops() + backward.get_total_flops(),
        "forward_by_operator": forward_operators, "backward_by_operator": by_operator(backward)[0],
        "forward_by_module": by_module(model, modules),
    }


def main():
    torch.set_num_threads(2)
    transformers.logging.set_verbosity_error()
    data = {
        "description": "FLOPs of one training step counted by torch.utils.flop_counter.FlopCounterMode; matrix products "
                       "and convolutions only, a multiply-add is two, attention eager and full square, dropout 0, no "
                       "optimizer. forward_by_module lists leaf modules only: the products of attention scores and of "
                       "routed experts belong to no leaf and appear in the totals and by operator. Written by "
                       "make_pytorch_flops.py.",
        "versions": {"torch": torch.__version__.split("+")[0], "torchvision": torchvision.__version__.split("+")[0],
                     "transformers": transformers.__version__},
        "cases": [measure(case) for case in CASES],
    }
    for case in data["cases"]:
        print(f"{case['name']:32} {case['forward_flops']:>16} {case['backward_flops']:>16} "
              f"{case['backward_flops'] / case['forward_flops']:.4f}")
    if "--check" in sys.argv:
        stored = json.loads(FILE.read_text())["cases"]
        wrong = [a["name"] for a, b in zip(data["cases"], stored, strict=True) if a != b]
        sys.exit(f"differs: {', '.join(wrong)}" if wrong else 0)
    FILE.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
