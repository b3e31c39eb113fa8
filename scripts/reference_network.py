"""GPT-2 and Llama in PyTorch, with the parameters' names of the Hugging Face Hub: what plan run is held against.

Reads a config.json of model_type gpt2 or llama; layers that compute what a plan's kernels do: norms, attention by
scaled_dot_product_attention, GELU by tanh or SwiGLU, learned or rotary positions (Llama 3's too), without dropout.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Linear(nn.Module):
    """`turned`: the weight is [inputs, outputs], as GPT-2's Conv1D has it."""

    def __init__(self, inputs, outputs, bias, turned=False):
        super().__init__()
        self.turned = turned
        self.weight = nn.Parameter(torch.empty((inputs, outputs) if turned else (outputs, inputs)))
        self.bias = nn.Parameter(torch.empty(outputs)) if bias else None

    def forward(self, x):
        return F.linear(x, self.weight.t() if self.turned else self.weight, self.bias)


def attended(q, k, v, head):
    """[batch, sequence, heads * head] each; keys may have fewer heads."""
    q, k, v = (t.unflatten(-1, (-1, head)).transpose(1, 2) for t in (q, k, v))
    options = {} if q.shape[1] == k.shape[1] else {"enable_gqa": True}
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, **options).transpose(1, 2).flatten(-2)


class Gpt2Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, epsilon = c["n_embd"], c.get("layer_norm_epsilon", 1e-5)
        self.head = width // c["n_head"]
        self.ln_1, self.ln_2 = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)
        inner = c.get("n_inner") or 4 * width
        self.attn = nn.ModuleDict({"c_attn": Linear(width, 3 * width, True, True), "c_proj": Linear(width, width, True, True)})
        self.mlp = nn.ModuleDict({"c_fc": Linear(width, inner, True, True), "c_proj": Linear(inner, width, True, True)})

    def forward(self, x, _):
        x = x + self.attn["c_proj"](attended(*self.attn["c_attn"](self.ln_1(x)).chunk(3, -1), self.head))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(c["vocab_size"], c["n_embd"]), "wpe": nn.Embedding(c["n_positions"], c["n_embd"]),
            "h": nn.ModuleList(Gpt2Layer(c) for _ in range(c["n_layer"])),
            "ln_f": nn.LayerNorm(c["n_embd"], c.get("layer_norm_epsilon", 1e-5))})

    def forward(self, tokens, recompute):
        t = self.transformer
        x = t["wte"](tokens) + t["wpe"](torch.arange(tokens.shape[1], device=tokens.device))
        for layer in t["h"]:
            x = checkpoint(layer, x, None, use_reentrant=False) if recompute else layer(x, None)
        return F.linear(t["ln_f"](x), t["wte"].weight)


def rotary_frequencies(c, head):
    """Su et al., arXiv:2104.09864, equation 15; with rope_type llama3 slowed down as Llama 3.1's code does."""
    frequencies = c.get("rope_theta", 10000.0) ** -(torch.arange(0, head, 2, dtype=torch.float64) / head)
    scaling = c.get("rope_scaling") or {}
    if scaling.get("rope_type") == "llama3":
        turns = scaling["original_max_position_embeddings"] * frequencies / (2 * math.pi)
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        kept = ((turns - low) / (high - low)).clamp(0, 1)
        frequencies = frequencies * (kept + (1 - kept) / scaling["factor"])
    return frequencies


def turned(x, rotary, head):
    """Halves of each head are turned by their position's angles, in fp32."""
    cos, sin = rotary
    one, other = x.unflatten(-1, (-1, head)).float().chunk(2, -1)
    return torch.cat((one * cos - other * sin, other * cos + one * sin), -1).flatten(-2).to(x.dtype)


class LlamaLayer(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, epsilon, inner = c["hidden_size"], c.get("rms_norm_eps", 1e-6), c["intermediate_size"]
        self.head = c.get("head_dim") or width // c["num_attention_heads"]
        queries, keys = c["num_attention_heads"] * self.head, c.get("num_key_value_heads", c["num_attention_heads"]) * self.head
        self.input_layernorm, self.post_attention_layernorm = nn.RMSNorm(width, epsilon), nn.RMSNorm(width, epsilon)
        self.self_attn = nn.ModuleDict({"q_proj": Linear(width, queries, False), "k_proj": Linear(width, keys, False),
                                        "v_proj": Linear(width, keys, False), "o_proj": Linear(queries, width, False)})
        self.mlp = nn.ModuleDict({"gate_proj": Linear(width, inner, False), "up_proj": Linear(width, inner, False),
                                  "down_proj": Linear(inner, width, False)})

    def forward(self, x, rotary):
        a, y = self.self_attn, self.input_layernorm(x)
        q, k = (turned(a[name](y), rotary, self.head) for name in ("q_proj", "k_proj"))
        x = x + a["o_proj"](attended(q, k, a["v_proj"](y), self.head))
        m, y = self.mlp, self.post_attention_layernorm(x)
        return x + m["down_proj"](F.silu(m["gate_proj"](y)) * m["up_proj"](y))


class Llama(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.config, width = c, c["hidden_size"]
        self.model = nn.ModuleDict({"embed_tokens": nn.Embedding(c["vocab_size"], width),
                                    "layers": nn.ModuleList(LlamaLayer(c) for _ in range(c["num_hidden_layers"])),
                                    "norm": nn.RMSNorm(width, c.get("rms_norm_eps", 1e-6))})
        self.lm_head = None if c.get("tie_word_embeddings") else Linear(width, c["vocab_size"], False)

    def forward(self, tokens, recompute):
        m = self.model
        frequencies = rotary_frequencies(self.config, m["layers"][0].head).to(tokens.device)
        angles = torch.arange(tokens.shape[1], device=tokens.device)[:, None, None] * frequencies
        rotary = (angles.cos().float(), angles.sin().float())
        x = m["embed_tokens"](tokens)
        for layer in m["layers"]:
            x = checkpoint(layer, x, rotary, use_reentrant=False) if recompute else layer(x, rotary)
        head = m["embed_tokens"] if self.lm_head is None else self.lm_head
        return F.linear(m["norm"](x), head.weight)


NETWORKS = {"gpt2": Gpt2, "llama": Llama}
