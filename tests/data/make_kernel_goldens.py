#!/usr/bin/env python3
"""Writes kernel_goldens/*.json: every op's results and gradients by PyTorch on the CPU in fp32, for tests/kernels.

Usage: make_kernel_goldens.py   (needs torch 2.5 or later and transformers 5; commit what it writes)
New ops come last: the numbers of those before are drawn first, and stay as they are.

One file per op: {"format", "source", "cases": [{"name", "numbers", "tensors": {name: {"rows", "columns", "values"}}}]}.
Nine significant digits name an fp32 exactly.
"""
import json
import math
import pathlib

import torch
import torch.nn.functional as F
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.gpt_neox import modeling_gpt_neox as neox
from transformers.models.llama.modeling_llama import LlamaConfig, LlamaRotaryEmbedding, apply_rotary_pos_emb

FOLDER = pathlib.Path(__file__).parent / "kernel_goldens"
torch.manual_seed(20261121)
torch.set_num_threads(1)


def number(value):
    return float(f"{value:.9g}")


def tensor(values):
    """Rows are all dimensions but the last."""
    values = values.detach().to(torch.float32)
    matrix = values.reshape(-1, values.shape[-1]) if values.dim() > 0 else values.reshape(1, 1)
    flat = [number(v) for v in matrix.flatten().tolist()]
    return {"rows": matrix.shape[0], "columns": matrix.shape[1], "values": flat}


def case(name, numbers, **tensors):
    return {"name": name, "numbers": numbers, "tensors": {key: tensor(value) for key, value in tensors.items()}}


def leaf(*shape, deviation=1.0):
    return (torch.randn(*shape) * deviation).requires_grad_()


def write(op, cases):
    FOLDER.mkdir(exist_ok=True)
    document = {"format": "plumbline.kernel_goldens/1",
                "source": f"PyTorch {torch.__version__}, transformers {transformers.__version__}, CPU, fp32",
                "cases": cases}
    (FOLDER / f"{op}.json").write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


def linear():
    for tokens, inputs, outputs in ((1, 3, 2), (5, 24, 7), (17, 20, 19)):
        x, w, b = leaf(tokens, inputs), leaf(outputs, inputs), leaf(1, outputs)
        y = F.linear(x, w, b[0])
        dy = torch.randn_like(y)
        y.backward(dy)
        yield case(f"{tokens}x{inputs}x{outputs}", {}, x=x, w=w, b=b, y=y, dy=dy, dx=x.grad, dw=w.grad, db=b.grad)


def norms(kind):
    for rows, columns, level in ((1, 4, 0.0), (3, 16, 0.0), (5, 70, 2.0), (2, 600, 0.5)):
        x, w, b = leaf(rows, columns), leaf(1, columns), leaf(1, columns)
        shifted = x + level
        shifted.retain_grad()
        if kind == "layer_norm":
            y = F.layer_norm(shifted, (columns,), w[0], b[0], 1e-5)
        else:
            y = F.rms_norm(shifted, (columns,), w[0], 1e-5)
        dy = torch.randn_like(y)
        y.backward(dy)
        tensors = dict(x=shifted, w=w, y=y, dy=dy, dx=shifted.grad, dw=w.grad)
        if kind == "layer_norm":
            tensors.update(b=b, db=b.grad)
        yield case(f"{rows}x{columns}", {"epsilon": 1e-5}, **tensors)


def embedding():
    for tokens, vocabulary, columns in ((4, 5, 3), (12, 7, 10)):
        table = leaf(vocabulary, columns)
        ids = torch.randint(0, vocabulary, (tokens,))
        y = F.embedding(ids, table)
        dy = torch.randn_like(y)
        y.backward(dy)
        yield case(f"{tokens} of {vocabulary}", {}, tokens=ids[None].float(), table=table, y=y, dy=dy,
                   dtable=table.grad)


def activations():
    for rows, columns in ((2, 5), (3, 50)):
        for form in ("tanh", "none"):
            x = leaf(rows, columns, deviation=2.5)
            y = F.gelu(x, approximate=form)
            dy = torch.randn_like(y)
            y.backward(dy)
            yield case("gelu " + ("tanh" if form == "tanh" else "erf"), {}, x=x, y=y, dy=dy, dx=x.grad)
        gate, up = leaf(rows, columns, deviation=2.5), leaf(rows, columns)
        y = F.silu(gate) * up
        dy = torch.randn_like(y)
        y.backward(dy)
        yield case("swiglu", {}, gate=gate, up=up, y=y, dy=dy, dgate=gate.grad, dup=up.grad)


def rotary():
    for batch, positions, heads, head_dim, first, base in ((1, 3, 1, 4, 0, 10000.0), (2, 5, 3, 8, 4000, 500000.0)):
        config = LlamaConfig(hidden_size=heads * head_dim, num_attention_heads=heads, rope_theta=base)
        config.rope_parameters = {"rope_type": "default", "rope_theta": base}
        turn = LlamaRotaryEmbedding(config)
        x = leaf(batch, positions, heads, head_dim)
        ids = torch.arange(first, first + positions)[None].expand(batch, -1)
        cosine, sine = turn(x, ids)
        y, _ = apply_rotary_pos_emb(x, x, cosine, sine, unsqueeze_dim=2)
        dy = torch.randn_like(y)
        y.backward(dy)
        flat = lambda t: t.reshape(batch * positions, heads * head_dim)
        yield case(f"from {first}", {"positions": positions, "head_dim": head_dim, "first": first, "base": base},
                   frequencies=turn.inv_freq[None], x=flat(x), y=flat(y), dy=flat(dy), dx=flat(x.grad))


def visible(mask, queries, keys, window):
    position = torch.arange(queries)[:, None] + (keys - queries)
    key = torch.arange(keys)[None]
    seen = torch.ones(queries, keys, dtype=torch.bool)
    if mask == "causal":
        seen &= key <= position
    if window:
        seen &= key > position - window
    return seen


def attention():
    shapes = [("none", 2, 2, 2, 3, 5, 4, 4, 0), ("causal", 2, 4, 2, 7, 7, 8, 8, 0), ("causal", 1, 2, 1, 9, 9, 6, 3, 0),
              ("causal", 1, 3, 3, 4, 10, 5, 5, 0), ("causal", 1, 2, 1, 140, 140, 4, 4, 0),
              ("causal", 1, 1, 1, 135, 135, 3, 3, 20), ("none", 1, 2, 2, 130, 131, 3, 2, 0)]
    for mask, batch, heads, kv_heads, queries, keys, qk_dim, v_dim, window in shapes:
        q, k = leaf(batch, heads, queries, qk_dim), leaf(batch, kv_heads, keys, qk_dim)
        v = leaf(batch, kv_heads, keys, v_dim)
        seen = visible(mask, queries, keys, window)
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=heads != kv_heads)
        do = torch.randn_like(o)
        o.backward(do)
        shared = k.repeat_interleave(heads // kv_heads, 1)
        scores = (q @ shared.transpose(2, 3) / math.sqrt(qk_dim)).masked_fill(~seen, -math.inf)
        flat = lambda t: t.transpose(1, 2).reshape(batch * t.shape[2], -1)
        numbers = {"causal": int(mask == "causal"), "batch": batch, "heads": heads, "kv_heads": kv_heads,
                   "queries": queries, "keys": keys, "qk_head_dim": qk_dim, "v_head_dim": v_dim, "window": window,
                   "first_query": keys - queries if mask == "causal" else 0}
        yield case(f"{mask} {heads}/{kv_heads} {queries}x{keys} window {window}", numbers,
                   q=flat(q), k=flat(k), v=flat(v), o=flat(o), do=flat(do), dq=flat(q.grad), dk=flat(k.grad),
                   dv=flat(v.grad), lse=torch.logsumexp(scores, -1).reshape(batch * heads, queries))


def cross_entropy():
    for tokens, classes, deviation in ((4, 10, 1.0), (6, 40, 5.0), (3, 600, 2.0)):
        x = leaf(tokens, classes, deviation=deviation)
        targets = torch.randint(0, classes, (tokens,))
        targets[1] = -100
        loss = F.cross_entropy(x, targets, ignore_index=-100, reduction="sum")
        (loss * 0.25).backward()
        yield case(f"{tokens}x{classes}", {"loss": number(loss.item()), "gradient_scale": 0.25}, x=x,
                   targets=targets[None].float(), dx=x.grad)


def router():
    for tokens, experts, chosen, divides, hidden in ((6, 4, 2, 1, 5), (7, 8, 3, 0, 6)):
        logits = leaf(tokens, experts)
        x, expert_weight = leaf(tokens, hidden), leaf(experts, hidden)
        probabilities = torch.softmax(logits, -1)
        weights, indices = probabilities.topk(chosen, -1)
        if divides:
            weights = weights / weights.sum(-1, keepdim=True)
        weights.retain_grad()
        outputs = x[:, None] * expert_weight[indices]  # each "expert" scales its tokens
        y = (weights[..., None] * outputs).sum(1)
        dy = torch.randn_like(y)
        y.backward(dy)
        yield case(f"{experts} choose {chosen}", {"chosen": chosen, "normalised": divides}, logits=logits,
                   probabilities=probabilities, weights=weights, experts=indices.float(), x=x,
                   expert_weight=expert_weight, y=y, dy=dy, dx=x.grad, dweights=weights.grad, dlogits=logits.grad)


def lion_step(w, g, m, rate, decay, beta1=0.9, beta2=0.99):
    direction = (beta1 * m + (1 - beta1) * g).sign()
    return w - rate * (direction + decay * w), beta2 * m + (1 - beta2) * g


def orthogonal(u, steps=5):
    x = u / u.norm()
    wide = x.shape[0] <= x.shape[1]
    for _ in range(steps):
        square = x @ x.T if wide else x.T @ x
        polynomial = -4.7750 * square + 2.0315 * square @ square
        x = 3.4445 * x + (polynomial @ x if wide else x @ polynomial)
    return x


def muon_step(w, g, m, rate, decay, momentum=0.95):
    m = momentum * m + g
    update = orthogonal(g + momentum * m) * math.sqrt(max(1.0, w.shape[0] / w.shape[1]))
    return w * (1 - rate * decay) - rate * update, m


def optimizers(steps=10):
    for rows, columns in ((6, 9), (11, 4)):
        start = torch.randn(rows, columns)
        gradients = torch.randn(steps, rows, columns)
        for name, rate, decay in (("sgd", 0.1, 0.0), ("momentum", 0.05, 0.01), ("adamw", 0.01, 0.1)):
            w = start.clone().requires_grad_()
            optimizer = (torch.optim.AdamW([w], lr=rate, weight_decay=decay, betas=(0.9, 0.95)) if name == "adamw" else
                         torch.optim.SGD([w], lr=rate, weight_decay=decay, momentum=0.9 if name == "momentum" else 0.0))
            for g in gradients:
                w.grad = g.clone()
                optimizer.step()
            yield case(name, {"rate": rate, "decay": decay, "steps": steps}, start=start, gradients=gradients, end=w)
        for name, step, rate, decay in (("lion", lion_step, 0.01, 0.1), ("muon", muon_step, 0.02, 0.1)):
            w, m = start.clone(), torch.zeros(rows, columns)
            for g in gradients:
                w, m = step(w, g, m, rate, decay)
            yield case(name, {"rate": rate, "decay": decay, "steps": steps}, start=start, gradients=gradients, end=w)


def partial_rotary():
    batch, positions, heads, head_dim, first, part = 2, 5, 3, 16, 700, 0.5
    config = neox.GPTNeoXConfig(hidden_size=heads * head_dim, num_attention_heads=heads, rotary_pct=part)
    turn = neox.GPTNeoXRotaryEmbedding(config)
    x = leaf(batch, heads, positions, head_dim)
    cosine, sine = turn(x, torch.arange(first, first + positions)[None].expand(batch, -1))
    y, _ = neox.apply_rotary_pos_emb(x, x, cosine, sine)
    dy = torch.randn_like(y)
    y.backward(dy)
    flat = lambda t: t.transpose(1, 2).reshape(batch * positions, heads * head_dim)
    yield case(f"{int(part * head_dim)} of {head_dim}",
               {"positions": positions, "head_dim": head_dim, "rotary_dim": int(part * head_dim), "first": first},
               frequencies=turn.inv_freq[None], x=flat(x), y=flat(y), dy=flat(dy), dx=flat(x.grad))


def rotary_frequencies():
    # The sizes of longchat-7b-16k (linear), Llama 3.1 8B and Llama 3.2 1B.
    for name, head_dim, scaling in (
            ("linear", 128, {"rope_type": "linear", "rope_theta": 10000.0, "factor": 8.0}),
            ("llama3", 128, {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
                             "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}),
            ("llama3", 64, {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
                            "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})):
        config = LlamaConfig(hidden_size=2 * head_dim, num_attention_heads=2, max_position_embeddings=131072)
        config.rope_parameters = scaling
        frequencies, scale = ROPE_INIT_FUNCTIONS[name](config, "cpu")
        assert scale == 1.0
        numbers = {key: float(value) for key, value in scaling.items() if key != "rope_type"}
        yield case(name, {"head_dim": head_dim, **numbers}, frequencies=frequencies[None])


def relu():
    x = leaf(3, 50)
    with torch.no_grad():
        x[0, 0] = 0.0
    y = F.relu(x)
    dy = torch.randn_like(y)
    y.backward(dy)
    yield case("relu", {}, x=x, y=y, dy=dy, dx=x.grad)


def more_optimizers(steps=10):
    """AdaGrad and RMSProp, and three optimizers whose gradients are clamped."""
    makers = {"adagrad": lambda w, rate, decay: torch.optim.Adagrad([w], lr=rate, weight_decay=decay),
              "rmsprop": lambda w, rate, decay: torch.optim.RMSprop([w], lr=rate, weight_decay=decay),
              "sgd": lambda w, rate, decay: torch.optim.SGD([w], lr=rate, weight_decay=decay),
              "adamw": lambda w, rate, decay: torch.optim.AdamW([w], lr=rate, weight_decay=decay, betas=(0.9, 0.95))}
    for rows, columns in ((6, 9), (11, 4)):
        start = torch.randn(rows, columns)
        gradients = torch.randn(steps, rows, columns)
        for name, rate, decay, limit in (("adagrad", 0.1, 0.0, None), ("adagrad", 0.1, 0.01, None),
                                         ("rmsprop", 0.01, 0.0, None), ("rmsprop", 0.01, 0.01, None),
                                         ("sgd", 0.1, 0.0, 0.5), ("adamw", 0.01, 0.1, 0.25),
                                         ("rmsprop", 0.01, 0.01, 1.0)):
            w = start.clone().requires_grad_()
            optimizer = makers[name](w, rate, decay)
            for g in gradients:
                w.grad = g.clone()
                if limit is not None:
                    torch.nn.utils.clip_grad_value_([w], limit)
                optimizer.step()
            numbers = {"rate": rate, "decay": decay, "steps": steps, "limit": limit or 1e30}
            yield case(name, numbers, start=start, gradients=gradients, end=w)


def adafactor(steps=10):
    """Matrices and a vector; weights below the least size, rates above 1 / sqrt(t)."""
    torch.manual_seed(20261130)  # the same whatever is drawn before
    for shape, rate, decay, size in (((6, 9), 0.01, 0.0, 1.0), ((11, 4), 0.05, 0.1, 1.0), ((5, 130), 0.8, 0.0, 0.02),
                                     ((1, 13), 0.05, 0.1, 1.0), ((8, 3), 0.05, 0.1, 1e-5)):
        is_vector = shape[0] == 1
        start = torch.randn(*shape) * size
        gradients = torch.randn(steps, *shape)
        gradients *= torch.rand(steps, 1, 1) * 3
        w = (start[0] if is_vector else start).clone().requires_grad_()
        optimizer = torch.optim.Adafactor([w], lr=rate, weight_decay=decay)
        for g in gradients:
            w.grad = (g[0] if is_vector else g).clone()
            optimizer.step()
        state = optimizer.state[w]
        kept = {"row_means": (state["variance"] if is_vector else state["row_var"].T)}
        if not is_vector:
            kept["column_means"] = state["col_var"]
        numbers = {"rate": rate, "decay": decay, "steps": steps}
        yield case("vector" if is_vector else "matrix", numbers, start=start, gradients=gradients, end=w, **kept)


def main():
    write("linear", list(linear()))
    write("layer_norm", list(norms("layer_norm")))
    write("rms_norm", list(norms("rms_norm")))
    write("embedding", list(embedding()))
    write("activations", list(activations()))
    write("rotary", list(rotary()))
    write("attention", list(attention()))
    write("cross_entropy", list(cross_entropy()))
    write("router", list(router()))
    write("optimizers", list(optimizers()))
    write("partial_rotary", list(partial_rotary()))
    write("rotary_frequencies", list(rotary_frequencies()))
    write("relu", list(relu()))
    write("more_optimizers", list(more_optimizers()))
    write("adafactor", list(adafactor()))


if __name__ == "__main__":
    main()
