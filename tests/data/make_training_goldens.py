#!/usr/bin/env python3
"""Writes training_goldens/: tiny networks of Hugging Face, trained for ten steps of AdamW by PyTorch.

Usage: make_training_goldens.py [NETWORK ...]   (needs torch 2.5 or later, transformers 5 and safetensors; commit what it
writes). Without names all of them: gpt2, llama, gpt_neox (half of a head turns, exact GELU), llama3 (scaled rotary
positions), opt (ReLU, positions that begin in row 2), qwen3 (norms of each head, a window in the second layer), qwen3_moe
(experts whose weights are not normalised; in fp32 alone, as rounding to bf16 changes which are chosen), wide_llama.

<network>.json is the network's config as save_pretrained writes it. <network>.safetensors holds, matrices as
[outputs, inputs] under Plumbline's names:
  start/<parameter>                   first weights
  rate                                of learning
  tokens                              what it is trained on; sequences are drawn from it as runtime/training/data_feed.h
                                      says, with SEED
  logits, gradient/<parameter>        of the first step, the latter before clipping; from PyTorch in fp64
  losses, norms, end/<parameter>      of all steps, and after the last; from PyTorch in fp64
  <recipe>/<any of these>             how far PyTorch itself is from that in the recipe: norm of the difference, the
                                      largest of runs with one, two and four micro-batches
Recipes: fp32; bf16, with weights, activations and gradients in bf16 and fp32 master weights in the optimizer; fp8, like
bf16 with the linears of layers in fp8. That needs a wider Llama, of which only salt/<parameter> says how it starts
(drawn()), gradients are kept to their first rows.
"""
import copy
import json
import pathlib
import sys

import numpy
import safetensors.torch
import torch
import torch.nn.functional as F
import transformers

FOLDER = pathlib.Path(__file__).parent / "training_goldens"
SEED = 7
SEQUENCES, LENGTH, STEPS = 4, 16, 10
DECAY, BETAS, EPSILON, CLIP = 0.1, (0.9, 0.95), 1e-8, 1.0
VOCABULARY, HIDDEN, LAYERS, HEADS, KV_HEADS = 64, 32, 2, 4, 2
MASK = 2**64 - 1


def configs():
    yield "gpt2", transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=HIDDEN, n_layer=LAYERS, n_head=HEADS, n_inner=64,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, initializer_range=0.15, bos_token_id=0, eos_token_id=0)
    yield "llama", transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=48, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, max_position_embeddings=LENGTH, rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0}, initializer_range=0.15, bos_token_id=0,
        eos_token_id=0)


    yield "gpt_neox", transformers.GPTNeoXConfig(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=64, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, max_position_embeddings=LENGTH, hidden_act="gelu", rotary_pct=0.5,
        rotary_emb_base=500, initializer_range=0.15, bos_token_id=0, eos_token_id=0)
    yield "llama3", transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=48, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, max_position_embeddings=8 * LENGTH, rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0,
                         "high_freq_factor": 4.0, "original_max_position_embeddings": 64},
        initializer_range=0.15, bos_token_id=0, eos_token_id=0)
    yield "opt", transformers.OPTConfig(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, ffn_dim=64, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        max_position_embeddings=LENGTH, word_embed_proj_dim=HIDDEN, dropout=0.0, attention_dropout=0.0, init_std=0.15,
        bos_token_id=0, eos_token_id=0, pad_token_id=None)


    yield "qwen3", transformers.Qwen3Config(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=48, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, head_dim=16, max_position_embeddings=LENGTH,
        use_sliding_window=True, sliding_window=5, max_window_layers=1,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0}, initializer_range=0.15, bos_token_id=0,
        eos_token_id=0)
    yield "qwen3_moe", transformers.Qwen3MoeConfig(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=48, moe_intermediate_size=16, num_experts=8,
        num_experts_per_tok=2, norm_topk_prob=False, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS, head_dim=8, max_position_embeddings=LENGTH, mlp_only_layers=[0],
        rope_parameters={"rope_type": "default", "rope_theta": 500.0}, initializer_range=0.15, bos_token_id=0,
        eos_token_id=0)


def wide_config():
    """Two tensor-parallel ranks have sides of 256 still: no product leaves fp8."""
    return transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=512, intermediate_size=512, num_hidden_layers=LAYERS,
        num_attention_heads=8, num_key_value_heads=4, max_position_embeddings=LENGTH, rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0}, bos_token_id=0, eos_token_id=0)


def mixed(z):
    """SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014, figures 16 and 17)."""
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def batch(tokens, step):
    """Sequences of a step and the same one token further."""
    rows = []
    for sequence in range(SEQUENCES):
        place = mixed(mixed(mixed(SEED) ^ step) ^ sequence) * (len(tokens) - LENGTH) >> 64
        rows.append(tokens[place:place + LENGTH + 1])
    rows = torch.stack(rows)
    return rows[:, :-1], rows[:, 1:]


def some_tokens(count=300):
    """Each follows from the one before, but for a small step: a network learns that."""
    tokens = [1]
    for step in torch.randint(0, 4, (count - 1,)).tolist():
        tokens.append((5 * tokens[-1] + step) % VOCABULARY)
    return torch.tensor(tokens, dtype=torch.int32)


class Rotary64(torch.nn.Module):
    """LlamaRotaryEmbedding and GPTNeoXRotaryEmbedding, which compute in fp32 whatever they are given."""

    def __init__(self, config):
        super().__init__()
        rotary = config.rope_parameters
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        width = int(head_dim * rotary.get("partial_rotary_factor", 1.0))
        exponents = torch.arange(0, width, 2, dtype=torch.float64) / width
        self.frequencies = rotary["rope_theta"] ** -exponents
        if rotary["rope_type"] == "llama3":
            turns = rotary["original_max_position_embeddings"] * self.frequencies / (2 * torch.pi)
            low, high = rotary["low_freq_factor"], rotary["high_freq_factor"]
            kept = ((turns - low) / (high - low)).clamp(0, 1)
            self.frequencies = self.frequencies * (kept + (1 - kept) / rotary["factor"])

    def forward(self, x, position_ids):
        angles = position_ids[..., None].double() * self.frequencies
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos(), angles.sin()


def choice64(x, router):
    """Qwen3MoeTopKRouter without normalisation."""
    logits = F.linear(x.flatten(0, -2), router.weight)
    return logits, *torch.softmax(logits, -1).topk(router.top_k, -1)


def in_fp64(model):
    """The same network without the places where transformers' networks go to fp32."""
    model = copy.deepcopy(model).double()
    if model.config.model_type == "gpt_neox":
        model.set_attn_implementation("sdpa")
        model.gpt_neox.rotary_emb = Rotary64(model.config)
    if model.config.model_type not in ("llama", "qwen3", "qwen3_moe"):
        return model
    model.set_attn_implementation("sdpa")
    model.model.rotary_emb = Rotary64(model.config)
    for parent in list(model.modules()):
        for name, child in parent.named_children():
            if type(child).__name__ == "Qwen3MoeTopKRouter":
                child.forward = lambda x, child=child: choice64(x, child)
            if type(child).__name__ in ("LlamaRMSNorm", "Qwen3RMSNorm", "Qwen3MoeRMSNorm"):
                norm = torch.nn.RMSNorm(len(child.weight), model.config.rms_norm_eps, dtype=torch.float64)
                norm.weight = child.weight
                setattr(parent, name, norm)
    return model


LLAMA = {"input_layernorm": "attention.norm", "post_attention_layernorm": "mlp.norm",
         "self_attn.q_proj": "attention.qkv.q", "self_attn.k_proj": "attention.qkv.k",
         "self_attn.v_proj": "attention.qkv.v", "self_attn.o_proj": "attention.output",
         "self_attn.q_norm": "attention.q_norm", "self_attn.k_norm": "attention.k_norm", "mlp.gate": "experts.router",
         "mlp.gate_proj": "mlp.gate_up.gate", "mlp.up_proj": "mlp.gate_up.up", "mlp.down_proj": "mlp.down"}
GPT2 = {"ln_1": "attention.norm", "ln_2": "mlp.norm", "attn.c_proj": "attention.output", "mlp.c_fc": "mlp.up",
        "mlp.c_proj": "mlp.down"}
NEOX = {"input_layernorm": "attention.norm", "post_attention_layernorm": "mlp.norm", "attention.dense": "attention.output",
        "mlp.dense_h_to_4h": "mlp.up", "mlp.dense_4h_to_h": "mlp.down"}
OPT = {"self_attn_layer_norm": "attention.norm", "final_layer_norm": "mlp.norm", "self_attn.q_proj": "attention.qkv.q",
       "self_attn.k_proj": "attention.qkv.k", "self_attn.v_proj": "attention.qkv.v",
       "self_attn.out_proj": "attention.output", "fc1": "mlp.up", "fc2": "mlp.down"}
ENDS = {"transformer.wte": "input.embedding", "transformer.wpe": "input.positions", "transformer.ln_f": "output.final_norm",
        "model.embed_tokens": "input.embedding", "model.norm": "output.final_norm", "lm_head": "output.head",
        "gpt_neox.embed_in": "input.embedding", "gpt_neox.final_layer_norm": "output.final_norm", "embed_out": "output.head",
        "model.decoder.embed_tokens": "input.embedding", "model.decoder.embed_positions": "input.positions",
        "model.decoder.final_layer_norm": "output.final_norm"}


def ours(name, tensor):
    """A parameter of transformers (or what has its shape) under our names. GPT-2's Conv1D stores [inputs, outputs]."""
    module, kind = name.rsplit(".", 1)
    if module in ENDS:
        return {f"{ENDS[module]}.{kind}": tensor}
    in_layer = module.removeprefix("model.decoder.").removeprefix("gpt_neox.")
    if in_layer.startswith("layers."):
        _, layer, module = in_layer.split(".", 2)
        if module in NEOX | OPT:
            return {f"layers.{layer}.{(NEOX | OPT)[module]}.{kind}": tensor}
        # Head by head its query, key and value.
        heads = tensor.unflatten(0, (HEADS, 3, HIDDEN // HEADS))
        return {f"layers.{layer}.attention.qkv.{part}.{kind}": heads[:, i].flatten(0, 1) for i, part in enumerate("qkv")}
    _, _, layer, module = module.split(".", 3)
    if module == "mlp.experts" and kind == "gate_up_proj":
        return {f"layers.{layer}.experts.gate_up.{part}.weight": t for part, t in zip(("gate", "up"), tensor.chunk(2, 1))}
    if module == "mlp.experts":
        return {f"layers.{layer}.experts.down.weight": tensor}
    if module in LLAMA:
        return {f"layers.{layer}.{LLAMA[module]}.{kind}": tensor}
    tensor = tensor.T if tensor.dim() == 2 else tensor
    if module == "attn.c_attn":
        return {f"layers.{layer}.attention.qkv.{part}.{kind}": t for part, t in zip("qkv", tensor.chunk(3))}
    return {f"layers.{layer}.{GPT2[module]}.{kind}": tensor}


def named(prefix, tensors):
    return {prefix + key: value.detach().double().clone() for name, tensor in tensors for key, value in ours(name, tensor).items()}


def in_fp8(tensor, kind):
    """Rounded to fp8 with one scale, and back."""
    scale = tensor.abs().max().float() / torch.finfo(kind).max
    return (tensor.float() / scale).to(kind).float() * scale


class Fp8Product(torch.autograd.Function):
    """x W^T with inputs and weights in e4m3, gradients in e5m2, each scaled by its own largest magnitude."""

    @staticmethod
    def forward(context, x, weight):
        low_x, low_weight = in_fp8(x, torch.float8_e4m3fn), in_fp8(weight, torch.float8_e4m3fn)
        context.save_for_backward(low_x, low_weight)
        return (low_x @ low_weight.T).to(x.dtype)

    @staticmethod
    def backward(context, gradient):
        low_x, low_weight = context.saved_tensors
        low = in_fp8(gradient, torch.float8_e5m2)
        of_weight = low.flatten(0, 1).T @ low_x.flatten(0, 1)
        return (low @ low_weight).to(gradient.dtype), of_weight.to(gradient.dtype)


def with_fp8_linears(model):
    model = model.bfloat16()
    for module in model.model.layers.modules():
        if isinstance(module, torch.nn.Linear):
            module.forward = lambda x, module=module: Fp8Product.apply(x, module.weight)
    return model


def train(model, tokens, rate, micro_batches=1):
    """Losses, norms, first logits and gradients, last weights. 16-bit weights get master copies."""
    weights = dict(model.named_parameters())
    is_mixed = next(iter(weights.values())).dtype == torch.bfloat16
    masters = {n: w.detach().float() if is_mixed else w for n, w in weights.items()}
    optimizer = torch.optim.AdamW(
        [{"params": [w for w in masters.values() if w.dim() >= 2], "weight_decay": DECAY},
         {"params": [w for w in masters.values() if w.dim() < 2], "weight_decay": 0.0}],
        lr=rate, betas=BETAS, eps=EPSILON, foreach=False)
    result, losses, norms = {}, [], []
    for step in range(STEPS):
        logits, loss = [], 0.0
        for inputs, targets in zip(*(part.chunk(micro_batches) for part in batch(tokens, step))):
            made = model(input_ids=inputs, use_cache=False).logits
            wide = made.float() if is_mixed else made
            part = F.cross_entropy(wide.flatten(0, 1), targets.flatten()) / micro_batches
            part.backward()
            loss += part.item()
            logits.append(wide.detach().flatten(0, 1).double())
        losses.append(loss)
        if step == 0:
            result["logits"] = torch.cat(logits)
            result.update(named("gradient/", ((n, w.grad) for n, w in weights.items())))
        if is_mixed:
            for n, w in weights.items():
                masters[n].grad = w.grad.float()
        norms.append(torch.nn.utils.clip_grad_norm_(masters.values(), CLIP).item())
        optimizer.step()
        if is_mixed:
            for n, w in weights.items():
                w.data.copy_(masters[n])
        model.zero_grad()
        optimizer.zero_grad()
    result.update(named("end/", masters.items()))
    result["losses"] = torch.tensor(losses, dtype=torch.float64)
    result["norms"] = torch.tensor(norms, dtype=torch.float64)
    return result


def compared(file, title, rate, model, recipes, kept=lambda run: run):
    """Into the file: the exact run, and how far runs of each recipe are from it."""
    tokens = file["tokens"].long()
    file["rate"] = torch.tensor([rate], dtype=torch.float64)
    exact = kept(train(in_fp64(model), tokens, rate))
    for recipe, rounded in recipes.items():
        runs = [kept(train(rounded(copy.deepcopy(model)), tokens, rate, micro_batches)) for micro_batches in (1, 2, 4)]
        errors = {key: max((run[key] - value).norm() for run in runs) for key, value in exact.items()}
        file.update({f"{recipe}/{key}": error.reshape(1) for key, error in errors.items()})
        report(f"{title} {recipe}", exact, errors)
    for key, value in exact.items():
        file[key] = value if key in ("losses", "norms") else value.float()
    return file


def golden(config):
    config._experts_implementation = "eager"  # the others know no fp64
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)  # biases and norms too
    file = {"tokens": some_tokens(), **{k: v.float() for k, v in named("start/", model.named_parameters()).items()}}
    recipes = {"fp32": lambda model: model, "bf16": lambda model: model.bfloat16()}
    if config.model_type == "qwen3_moe":
        del recipes["bf16"]
    return compared(file, config.model_type, 0.01, model, recipes)


def drawn(salt, shape):
    """Even over +-0.08, norms around 1: SplitMix64's finaliser of salt * 2^32 + the element's number."""
    with numpy.errstate(over="ignore"):
        z = numpy.arange(numpy.prod(shape), dtype=numpy.uint64) + numpy.uint64((salt << 32) + 0x9E3779B97F4A7C15 & MASK)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z = z ^ (z >> numpy.uint64(31))
    part = (z >> numpy.uint64(40)).astype(numpy.float64) / 2**24
    start = 0.16 * part - 0.08 + (1.0 if len(shape) == 1 else 0.0)
    return torch.from_numpy(start).float().reshape(shape)


def fp8_golden(config, rows=2):
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    file = {"tokens": some_tokens()}
    with torch.no_grad():
        for salt, (name, parameter) in enumerate(model.named_parameters(), 1):
            parameter.copy_(drawn(salt, tuple(parameter.shape)))
            file.update({f"salt/{key}": torch.tensor([salt], dtype=torch.int32) for key in ours(name, parameter)})
    kept = lambda run: {k: v[:rows] if k.startswith("gradient/") and v.dim() == 2 else v for k, v in run.items()
                        if not k.startswith("end/") and k != "gradient/input.embedding.weight"}
    return compared(file, "wide llama", 0.001, model, {"fp8": with_fp8_linears}, kept)


def report(title, exact, errors):
    print(title, "loss", [round(x, 4) for x in exact["losses"].tolist()[::3]])
    for kind in ("logits", "losses", "norms", "gradient/", "end/"):
        worst = max(((errors[k] / exact[k].norm(), k) for k in exact if k.startswith(kind)), default=(0.0, ""))
        print(f"  {kind:10} relative error up to {worst[0]:.2e} ({worst[1]})")


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    source = f"PyTorch {torch.__version__}, transformers {transformers.__version__}, CPU"
    made = [(name, config, golden) for name, config in configs()] + [("wide_llama", wide_config(), fp8_golden)]
    for name, config, make in made:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        torch.manual_seed(20261122)
        tensors = {key: value.contiguous() for key, value in make(config).items()}
        safetensors.torch.save_file(tensors, FOLDER / f"{name}.safetensors", metadata={"source": source})
        (FOLDER / f"{name}.json").write_text(json.dumps(config.to_dict(), sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
