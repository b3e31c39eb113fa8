#!/usr/bin/env python3
"""Summarises `plan calibrate --cross-validate` and lays the summary alongside what was aimed at.

Usage: cross_validation.py <answer.json> <summary.json>        reduce an answer to what is committed
       cross_validation.py --host-bound <answer.json> <summary.json>   the same of rows tested question by question
       cross_validation.py --tables <summary.json> <host_bound.json> <page.md>   the tables between the page's markers
The answer has one entry per row: measured, fitted (by a fit that saw it) and tested (by one that saw nothing of its
source and model). The summary keeps errors only; a test compares it with the committed one (check_fidelity.py).
"""
import json
import math
import re
import sys

DENSE_SERVERS = ("A100, dense", "H100, dense")
# What is aimed at: mean absolute error, and its 90th percentile where one is set.
TARGETS = {"A100, dense": (0.045, 0.09), "H100, dense": (0.045, 0.09), "Blackwell, dense": (0.07, None),
           "H100 at 500 W, dense": (0.12, None), "V100, dense": (0.12, None), "mixture of experts": (0.15, None)}
TARGET_STACK_WITHOUT, TARGET_STACK_AFTER = 0.10, 0.07
TARGET_PAIRS, TARGET_REGRET = 0.95, 0.02
# Of host-bound runs: mean absolute error, rank correlation inside a question, mean regret.
HOST_BOUND_ERROR, HOST_BOUND_CORRELATION, HOST_BOUND_REGRET = 0.12, 0.8, 0.04
COVERAGE_LOW, COVERAGE_HIGH, FEWEST_FOR_COVERAGE = 0.85, 0.95, 40
STATED = 0.90
LEAST_SHARE = 0.08  # of a class's error: smaller groups are not listed
# What is known of the errors that remain, and where from; changed by hand when the facts change.
WEAK_BECAUSE = (
    "**H100 at 500 W**: all rows are of one framework, from logs of many commits that do not print the power limit of "
    "their cards, which differ: counted with what is recomputed, Qwen3-32B under FSDP multiplies at 481 TFLOP/s where "
    "Llama-2 7B (both compiled, full recompute, one node) does at 383; Llama-3 8B takes 1.375 s without a compiler "
    "(commit e23bb707) and 1.422 with one (069bae28), though its operators move 0.2 s more. Qwen3-32B stays 13 "
    "to 24 % too slow on one node (its log is of a launch by hand), with four and eight tensor-parallel ranks "
    "(logs of a cluster's job) 11 to 17 % too fast although DTensor's copies and sums of gradients are counted. Ring "
    "attention over 262 144 tokens is 24 % too fast: from two to eight ranks its attention falls from about 280 to 170 "
    "TFLOP/s a card, of which merging in 32 bits and repeated keys and values explain a fifth.",
    "**A software stack left out** is off by what its framework adds. BLOOM's Megatron-DeepSpeed is 14 % too fast "
    "without its rows: 9 to 23 % on eight tensor-parallel ranks, 4 to 15 % on four (but for its ramp-up), also on one "
    "node without a pipeline (14 and 15 %), so it is its tensor parallelism (fitted at 1.9 times NCCL's model) and "
    "its factor (1.19), neither with a source. Under Bridge Qwen3's mixtures since 26.06 are mostly 16 to 25 % too "
    "slow and DeepSeek-V3 of 25.09 on B200 26 % too fast; its three telling rows are 4, 10 and 22 % too slow, and "
    "after them everything else is 10 % too fast. torchtitan's rest is its rows on Blackwell (fp8 and fp4 casts of "
    "torchao, 9 to 20 % too fast), MI300X (attention of unpublished speed, 23 to 28 %), a two-layer mixture (43 %), and "
    "the cards above; after three rows one of MI300X moves the factor of the stack that it shares with one H100 row. "
    "AutoModel stays 0.8 points above what is asked after three rows: of its mixtures Qwen3 30B is 18 % too slow and "
    "gpt-oss 20B 25 % too fast. "
    "Stated facts helped: DeepSpeed's ZeRO-3 of 2021 gathers tensor by tensor and waits for each (23 to 9 %, and 4 % "
    "but for its run of 2026 on MI300X, 34 % too fast as other runs on that device are), the attention kernel "
    "(llm-foundry 15 to 7 %), no interpreter (llm.c 15 to 4 %), DeepEP (AutoModel 17 to 9 %), operators that no "
    "compiler joins (torchtitan 20 to 15 %); they were looked for because these stacks were off, so these are no "
    "longer blind tests. DeepSpeed's runs of 2021 on V100 stay 16 to 53 % too fast; they are inferred and reported "
    "apart. Tried after three rows: trusting rows of badly predicted classes less, letting devices move that nobody "
    "else measured; neither was kept.",
    "**Zero-bubble, the 1.5 B model** is 7 to 9 % too slow where nothing of it was fitted, ZB-2p 9 to 14 %: its "
    "measured order is fitted to its times, ZB-H2 is not.",
    "**Megatron-Bridge on H100**: Llama-3 8B under FSDP on one node is 9 to 12 % too slow, 70B in interleaved pipelines "
    "9 to 11 %.",
    "**Megatron's deterministic mode on GB200** (two rows of mcore_golden_large): Transformer Engine leaves cuDNN's "
    "attention there (its pull requests 2130 and 2584), which is modelled; torch.use_deterministic_algorithms also "
    "fills every new tensor, which is not.",
    "**Moonlight on eight H100** (four rows of one run): one micro-batch of a small mixture under the library recipe, "
    "bound by the host in a way that no other row shows. Without their times mixtures are at 10.8 %.",
    "**DeepSeek-V3 on B200 and B300** is 2 to 27 % too fast under a pipeline of 16, though its layer of multi-token "
    "prediction and recomputed up-projections are counted. Tried: the dispatcher that each configuration names as a "
    "trait of its own (mixtures 13.7 to 14.9 %); not kept.",
    "**Host-bound runs** (vTrain's): eight tensor-parallel ranks are 10 % too fast, four 6 % too slow. The file's "
    "times are not 570 measurements: they are exactly linear in micro-batches and in layers, to the microsecond, and "
    "a degree of data parallelism adds one constant whatever the micro-batch, so all rest on the times of a layer at "
    "32 combinations of hidden size, tensor-parallel degree and micro-batch, and of what stands around the layers. "
    "Two pairs of them make most of the regret: at hidden 2048 four ranks with two sequences take 2.8 ms a layer, "
    "less than with one (3.0), and two ranks with two 4.7 (four questions, 25 % each); at hidden 1024 two ranks take "
    "3.2 ms with four sequences and 3.6 with two (eight, 9 to 13 %). No device or host does less work in more time. To "
    "follow them the fit makes a gap between kernels of 24 microseconds (prior 3). Tried: counting the file as eight "
    "groups, by model (gap 6, but 8.0 %, regret 5.0 %); a 5-norm of host and device time (6.7 %, regret 5.7 %); "
    "neither was kept.",
    "**Tensor parallelism with divided sequences**: the second all-gather of a layer's input is priced in full, "
    "though Megatron computes alongside it (arXiv:2205.05198, section 4.2.2). Tried: only what the two slow each other; "
    "it tests no better (H100 4.3 %) and contradicts the paper's own table 4, where dividing sequences saves next to "
    "nothing of the backward pass.",
    "**Rows reported apart**: torchao calls its B200 power-limited without saying to how much, and leaves the variant "
    "of its H100 open; both were counted as those devices before.",
    "**Runs that are said not to fit**: BLOOM's and the V100 runs at the edge of their memory, NeMo 24.07 whose fp8 "
    "settings are unpublished, rows whose page contradicts its configurations.",
)
BEGIN, END = "<!-- cross-validation: begin -->", "<!-- cross-validation: end -->"


def quantile(values, share):
    """Type 7 of Hyndman & Fan, as planner/validate/summary.h."""
    values = sorted(values)
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def series(errors):
    magnitudes = [abs(e) for e in errors]
    rounded = {"n": len(errors), "mape": sum(magnitudes) / len(errors), "bias": sum(errors) / len(errors),
               "median": quantile(magnitudes, 0.5), "p90": quantile(magnitudes, 0.9),
               "worst": max(errors, key=abs)}
    return {key: value if key == "n" else round(value, 5) for key, value in rounded.items()}


def tested_error(row):
    return row["tested"]["expected"] / row["measured"] - 1


def is_inside(row):
    return row["tested"]["low"] <= row["measured"] <= row["tested"]["high"]


def both(rows):
    """Errors of the fit and of the test over some rows, and the share inside the stated interval."""
    return {"fitted": series([row["fitted"] / row["measured"] - 1 for row in rows]),
            "tested": series([tested_error(row) for row in rows]),
            "coverage": round(sum(map(is_inside, rows)) / len(rows), 4)}


def by(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return {name: both(groups[name]) for name in sorted(groups)}


def causes(rows):
    """Groups of rows that make the most of their class's error: device, stack, and whether it is fine-tuning."""
    groups, totals = {}, {}
    for row in rows:
        name = f"{row['class']} | {row['device']} | {row['stack']}{', fine-tuning' if row['fine_tuning'] else ''}"
        groups.setdefault(name, []).append(tested_error(row))
        totals[row["class"]] = totals.get(row["class"], 0) + abs(tested_error(row))
    kept = {}
    for name, errors in groups.items():
        share = sum(map(abs, errors)) / totals[name.split(" | ")[0]]
        if share >= LEAST_SHARE:
            kept[name] = {"n": len(errors), "mape": round(sum(map(abs, errors)) / len(errors), 5),
                          "bias": round(sum(errors) / len(errors), 5), "share": round(share, 4)}
    return dict(sorted(kept.items(), key=lambda item: (item[0].split(" | ")[0], -item[1]["share"])))


def binomial_inside(covered, rows, share=STATED):
    """Two-sided: whether so many covered rows are likely (5 %) when each is covered with probability `share`."""
    weights = [math.comb(rows, k) * share ** k * (1 - share) ** (rows - k) for k in range(rows + 1)]
    return sum(w for w in weights if w <= weights[covered] * (1 + 1e-9)) >= 0.05


def holds(entry):
    """Whether a stated interval holds: nine tenths by and large, or by a binomial test where rows are few."""
    n, share = entry["n"], entry["coverage"]
    return COVERAGE_LOW <= share <= COVERAGE_HIGH if n >= FEWEST_FOR_COVERAGE else binomial_inside(round(share * n), n)


def coverage(rows):
    return {"n": len(rows), "coverage": round(sum(map(is_inside, rows)) / len(rows), 4)}


def regimes(answer):
    """By what was known of a tested row's stack on its class of devices, and by how it was tested. The folds leave little
    unknown, so a regime's own test is the one that leaves frameworks out."""
    tested = {}
    for row in answer["rows"]:
        tested.setdefault(f"{row['regime']}, in folds", []).append(row)
    for when, name in (("after", "few_rows, framework left out"), ("without", "unknown, framework left out")):
        tested[name] = [row for stack in answer["left_out_stacks"] for row in stack[when]]
    trusted = {name: [row for row in rows if row["trust"] == "trusted"] for name, rows in sorted(tested.items())}
    return {name: coverage(rows) for name, rows in trusted.items() if rows}


def folds(trusted):
    """Mean error of each fold, so that one of them can be tested alone."""
    numbers = sorted({row["fold"] for row in trusted})
    errors = {fold: [abs(tested_error(row)) for row in trusted if row["fold"] == fold] for fold in numbers}
    return {str(fold): {"n": len(e), "mape": round(sum(e) / len(e), 5)} for fold, e in errors.items()}


def stack_summary(stack):
    def of(rows):
        trusted = [row for row in rows if row["trust"] == "trusted"]
        return dict(series([tested_error(row) for row in trusted]), **coverage(trusted)) if trusted else None
    return {"without": of(stack["without"]), "after": of(stack["after"]), "chosen": stack["chosen"]}


def ranking_summary(questions):
    judged = [q for q in questions if q["pairs"]]
    pairs = sum(q["pairs"] for q in judged)
    within = sum(q["regret"] <= TARGET_REGRET + q["noise"] for q in questions)
    many = [q for q in questions if q["rows"] >= 3]
    return {"questions": len(questions), "pairs": pairs,
            "right": round(sum(q["pairs_right"] for q in judged) / pairs, 4) if pairs else None,
            "mean_regret": round(sum(q["regret"] for q in questions) / len(questions), 5) if questions else None,
            "worst_regret": round(max((q["regret"] for q in questions), default=0), 5),
            "best_within_target": within,
            "mean_spearman": round(sum(q["spearman"] for q in many) / len(many), 4) if many else None}


def summary(answer):
    trusted = [row for row in answer["rows"] if row["trust"] == "trusted"]
    apart = {trust: both(rows) for trust in ("inferred", "doubtful")
             for rows in [[row for row in answer["rows"] if row["trust"] == trust]] if rows}
    moved = sorted(trusted, key=lambda row: -abs(tested_error(row)))[:25]
    return {"format": "plumbline.cross_validation_summary/1",
            "rows": len(answer["rows"]),
            "numbers": {"fitted": len(answer["numbers"]),
                        "identified": sum(number["identified"] for number in answer["numbers"])},
            "classes": by(trusted, "class"), "sources": by(trusted, "source"), "apart": apart,
            "regimes": regimes(answer), "folds": folds(trusted),
            "stacks": {stack["stack"]: stack_summary(stack) for stack in answer["left_out_stacks"]},
            "ranking": ranking_summary(answer["questions"]),
            "causes": causes(trusted),
            "worst": [{"id": row["id"], "error": round(tested_error(row), 4), "class": row["class"],
                       "stack": row["stack"], "strategy": row["strategy"]} for row in moved]}


def tensor_parallel(row):
    degree = re.match(r"tp (\d+) ", row["strategy"])
    return int(degree.group(1)) if degree else 1


def host_bound_summary(answer):
    """Of rows that were tested question by question: errors by degree of tensor parallelism, and how they rank."""
    rows = answer["rows"]
    degrees = sorted({tensor_parallel(row) for row in rows})
    return {"format": "plumbline.host_bound_summary/1", "rows": len(rows), "tested": both(rows)["tested"],
            "coverage": both(rows)["coverage"], "ranking": ranking_summary(answer["questions"]),
            "by_tp": {str(tp): series([tested_error(row) for row in rows if tensor_parallel(row) == tp])
                      for tp in degrees}}


def percent(value, signed=False):
    return "" if value is None else f"{100 * value:{'+' if signed else ''}.1f}"


def met(value, target):
    return "" if target is None or value is None else ("yes" if value <= target else "**no**")


def series_line(name, entry, target=None, p90=None):
    tested = entry["tested"]
    cells = [name, str(tested["n"]), percent(entry["fitted"]["mape"]), percent(tested["mape"]), percent(tested["median"]),
             percent(tested["p90"]), percent(tested["worst"], True), percent(tested["bias"], True),
             percent(entry["coverage"])]
    if target is not False:
        goal = "" if target is None else f"{percent(target)}" + (f", p90 {percent(p90)}" if p90 else "")
        reached = target is None or (tested["mape"] <= target and (p90 is None or tested["p90"] <= p90))
        cells += [goal, "" if target is None else ("yes" if reached else "**no**")]
    return "| " + " | ".join(cells) + " |"


def table(header, lines):
    columns = header.count("|") + 1
    return [f"| {header} |", "|" + "---|" * columns] + lines + [""]


def host_bound_tables(kept):
    tested, ranked = kept["tested"], kept["ranking"]
    goals = [("mean absolute error %", tested["mape"] <= HOST_BOUND_ERROR, percent(tested["mape"]),
              f"at most {percent(HOST_BOUND_ERROR)}"),
             ("mean rank correlation inside a question", ranked["mean_spearman"] >= HOST_BOUND_CORRELATION,
              f"{ranked['mean_spearman']:.2f}", f"at least {HOST_BOUND_CORRELATION}"),
             ("mean regret of the predicted best %", ranked["mean_regret"] <= HOST_BOUND_REGRET,
              percent(ranked["mean_regret"]), f"at most {percent(HOST_BOUND_REGRET)}")]
    lines = ["### Host-bound runs, question by question", "",
             f"{kept['rows']} steps of small networks on 2 to 8 A100 (vTrain, data/ground_truth_single.csv), which are not "
             f"among the published rows: each of the {ranked['questions']} questions is predicted by a fit that saw the "
             f"others. `make cross-validation HOST_BOUND_ROWS=FILE` tests them where the file is at hand. Of "
             f"{ranked['pairs']} pairs {percent(ranked['right'])} % are ordered right; {percent(kept['coverage'])} % of the "
             "rows lie inside the stated interval.", ""]
    lines += table("host-bound runs | tested | aimed at | reached",
                   [f"| {name} | {value} | {goal} | {'yes' if reached else '**no**'} |"
                    for name, reached, value, goal in goals])
    return lines + table("tensor-parallel ranks | n | tested MAPE % | bias",
                         [f"| {tp} | {entry['n']} | {percent(entry['mape'])} | {percent(entry['bias'], True)} |"
                          for tp, entry in kept["by_tp"].items()])


def tables(kept, host_bound):
    heads = "n | fitted MAPE % | tested MAPE % | median | p90 | worst | bias | inside the 90 % interval %"
    lines = ["Tested means: predicted by a fit that saw no row of the same source and model, every fitted number refitted.",
             f"{kept['rows']} rows, {kept['numbers']['fitted']} numbers, of which the rows identify "
             f"{kept['numbers']['identified']} (the others stay at their priors).", "", "### By class of runs", ""]
    classes = [series_line(name, entry, *TARGETS.get(name, (None, None))) for name, entry in kept["classes"].items()]
    classes += [series_line(f"rows apart: {name}", entry, None) for name, entry in kept["apart"].items()]
    lines += table(f"runs | {heads} | aimed at | reached", classes)
    lines += ["### By source", ""]
    lines += table(f"source | {heads}", [series_line(name, entry, False) for name, entry in kept["sources"].items()])
    lines += ["### A software stack left out", ""]
    stacks = []
    for name, entry in kept["stacks"].items():
        without, after = entry["without"], entry["after"]
        cells = [name, without["n"], percent(without["mape"]), met(without["mape"], TARGET_STACK_WITHOUT),
                 percent(without["bias"], True), percent(without["coverage"])]
        cells += [percent(after["mape"]), met(after["mape"], TARGET_STACK_AFTER), percent(after["coverage"])] if after else [""] * 3
        stacks.append("| " + " | ".join(map(str, cells)) + " |")
    lines += table("stack | n | MAPE % with nothing of it | at most 10 | bias | inside % | after three of its rows | at most 7 | "
                   "inside %", stacks)
    lines += ["The three rows are those whose measurement would tell most about the others, by what was known before.", "",
              "### Intervals by regime", ""]
    lines += table("what was known of device and stack | n | inside the stated 90 % interval % | holds",
                   [f"| {name.replace('_', ' ')} | {entry['n']} | {percent(entry['coverage'])} | "
                    f"{'yes' if holds(entry) else '**no**'} |" for name, entry in kept["regimes"].items()])
    r = kept["ranking"]
    lines += ["### Ranking inside one question", "",
              f"{r['questions']} questions with at least two rows; of {r['pairs']} pairs that differ by more than twice "
              f"the source's noise {percent(r['right'])} % are ordered right (aimed at: 95 %). Regret of the predicted "
              f"best: {percent(r['mean_regret'])} % in the mean, {percent(r['worst_regret'])} % at worst; within 2 % plus "
              f"the noise in {r['best_within_target']} of {r['questions']}.", "", "### Rows that were missed most", ""]
    lines += table("row | error % | class | stack | strategy",
                   [f"| {row['id']} | {percent(row['error'], True)} | {row['class']} | {row['stack']} | {row['strategy']} |"
                    for row in kept["worst"]])
    lines += host_bound_tables(host_bound)
    lines += ["### Where it is weak, and why", "",
              f"Groups of rows that make at least {percent(LEAST_SHARE)} % of their class's error:", ""]
    lines += table("class | device | stack | n | tested MAPE % | bias | share of the class's error %",
                   [f"| {name} | {entry['n']} | {percent(entry['mape'])} | {percent(entry['bias'], True)} | "
                    f"{percent(entry['share'])} |" for name, entry in kept["causes"].items()])
    lines += [f"* {reason}" for reason in WEAK_BECAUSE] + [""]
    return lines


def dump(kept, path):
    """One line per entry, so that a change reads as one."""
    lines = []
    for key, value in kept.items():
        if isinstance(value, dict) and key not in ("numbers", "ranking", "tested"):
            inner = ",\n".join(f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items())
            lines.append(f"  {json.dumps(key)}: {{\n{inner}\n  }}")
        elif isinstance(value, list):
            inner = ",\n".join(f"    {json.dumps(entry)}" for entry in value)
            lines.append(f"  {json.dumps(key)}: [\n{inner}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def write_tables(kept, host_bound, path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n" + "\n".join(tables(kept, host_bound)) + END + after)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    if sys.argv[1] == "--tables":
        write_tables(read(sys.argv[2]), read(sys.argv[3]), sys.argv[4])
    elif sys.argv[1] == "--host-bound":
        dump(host_bound_summary(read(sys.argv[2])), sys.argv[3])
    else:
        dump(summary(read(sys.argv[1])), sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
