#!/usr/bin/env python3
"""Summarises `plan calibrate --cross-validate` and lays the summary alongside what was aimed at.

Usage: cross_validation.py <answer.json> <summary.json> [<fold.json>]   reduce an answer to what is committed; the fold's
                                                        answer is of the runs that ship, for a test to repeat
       cross_validation.py --host-bound <answer.json> <validation.json> <summary.json>   the same of runs tested question
                                                        by question, with what `plan validate` says of them
The answer has one entry per run: measured, fitted (by a fit that saw it) and tested (by one that saw nothing of its
source and model). The summary keeps errors only; a test compares it with the committed one (check_fidelity.py).
"""
import json
import math
import re
import sys

# What is aimed at: mean absolute error, and its 90th percentile where one is set; of all runs of a class.
TARGETS = {"A100, dense": (0.04, 0.09), "H100, dense": (0.04, 0.09), "Blackwell, dense": (0.05, None),
           "H100 at 500 W, dense": (0.10, None), "V100, dense": (0.13, None), "mixture of experts": (0.14, None),
           "host-bound small models": (0.10, None)}
TARGET_STACK_WITHOUT, TARGET_STACK_AFTER = 0.09, 0.05
TARGET_MIXTURE_UNKNOWN = 0.18
TARGET_PAIRS, TARGET_REGRET = 0.90, 0.03
# Sources of small networks that the host holds up: a class of their own.
HOST_BOUND_SOURCES = {"vtrain_single"}
HOST_BOUND_CLASS = "host-bound small models"
# Of host-bound runs: mean absolute error, rank correlation inside a question, mean regret.
HOST_BOUND_ERROR, HOST_BOUND_CORRELATION, HOST_BOUND_REGRET = 0.10, 0.8, 0.04
KNOWLEDGE = {"framework_known": "framework known", "framework_unknown": "framework unknown",
             "device_unknown": "device unknown"}
COVERAGE_LOW, COVERAGE_HIGH, FEWEST_FOR_COVERAGE = 0.85, 0.95, 40
STATED = 0.90
LEAST_SHARE = 0.08  # of a class's error: smaller groups are not listed


def class_of(row):
    return HOST_BOUND_CLASS if row["source"] in HOST_BOUND_SOURCES else row["class"]


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
    """Errors of the fit and of the test over some runs, and the share inside the stated interval."""
    return {"fitted": series([row["fitted"] / row["measured"] - 1 for row in rows]),
            "tested": series([tested_error(row) for row in rows]),
            "coverage": round(sum(map(is_inside, rows)) / len(rows), 4)}


def by(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return {name: both(groups[name]) for name in sorted(groups)}


def causes(rows):
    """Groups of runs that make the most of their class's error: device, stack, and whether it is fine-tuning."""
    groups, totals = {}, {}
    for row in rows:
        name = f"{class_of(row)} | {row['device']} | {row['stack']}{', fine-tuning' if row['fine_tuning'] else ''}"
        groups.setdefault(name, []).append(tested_error(row))
        totals[class_of(row)] = totals.get(class_of(row), 0) + abs(tested_error(row))
    kept = {}
    for name, errors in groups.items():
        share = sum(map(abs, errors)) / totals[name.split(" | ")[0]]
        if share >= LEAST_SHARE:
            kept[name] = {"n": len(errors), "mape": round(sum(map(abs, errors)) / len(errors), 5),
                          "bias": round(sum(errors) / len(errors), 5), "share": round(share, 4)}
    return dict(sorted(kept.items(), key=lambda item: (item[0].split(" | ")[0], -item[1]["share"])))


def binomial_inside(covered, rows, share=STATED):
    """Two-sided: whether so many covered runs are likely (5 %) when each is covered with probability `share`."""
    weights = [math.comb(rows, k) * share ** k * (1 - share) ** (rows - k) for k in range(rows + 1)]
    return sum(w for w in weights if w <= weights[covered] * (1 + 1e-9)) >= 0.05


def holds(entry):
    """Whether a stated interval holds: nine tenths by and large, or by a binomial test where runs are few."""
    n, share = entry["n"], entry["coverage"]
    return COVERAGE_LOW <= share <= COVERAGE_HIGH if n >= FEWEST_FOR_COVERAGE else binomial_inside(round(share * n), n)


def coverage(rows):
    return {"n": len(rows), "coverage": round(sum(map(is_inside, rows)) / len(rows), 4)}


def regimes(answer):
    """Of whole sources that were left out: by what `plan` states to know of device and stack."""
    tested = {}
    for rows in (answer["framework_known"], answer["framework_unknown"], answer["device_unknown"]):
        for row in rows:
            name = row["regime"] + (", host-bound" if class_of(row) == HOST_BOUND_CLASS else "")
            tested.setdefault(name, []).append(row)
    return {name: coverage(rows) for name, rows in sorted(tested.items())}


def left_out(answer):
    """Whole sources left out: by amount of knowledge and class, all runs."""
    def of(rows):
        return dict(series([tested_error(row) for row in rows]), **coverage(rows))
    result = {}
    for key in KNOWLEDGE:
        groups = {"all": answer[key]}
        for row in answer[key]:
            groups.setdefault(class_of(row), []).append(row)
            if "dense" in class_of(row):
                groups.setdefault("dense", []).append(row)
        result[key] = {name: of(rows) for name, rows in sorted(groups.items()) if rows}
    return result


def folds(rows):
    """Mean error of each fold, so that one of them can be tested alone."""
    numbers = sorted({row["fold"] for row in rows})
    errors = {fold: [abs(tested_error(row)) for row in rows if row["fold"] == fold] for fold in numbers}
    return {str(fold): {"n": len(e), "mape": round(sum(e) / len(e), 5)} for fold, e in errors.items()}


def stack_summary(stack):
    def of(rows):
        return dict(series([tested_error(row) for row in rows]), **coverage(rows)) if rows else None
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


def by_class(rows):
    groups = {}
    for row in rows:
        groups.setdefault(class_of(row), []).append(row)
    return {name: both(groups[name]) for name in sorted(groups)}


def summary(answer, fold_alone=None):
    rows = answer["rows"]
    moved = sorted(rows, key=lambda row: -abs(tested_error(row)))[:25]
    trusts = {trust: both(kept) for trust in ("trusted", "inferred", "doubtful")
              for kept in [[row for row in rows if row["trust"] == trust]] if kept}
    return {"format": "plumbline.cross_validation_summary/2",
            "rows": len(rows),
            "numbers": {"fitted": len(answer["numbers"]),
                        "held": sum(number["held"] for number in answer["numbers"]),
                        "identified": sum(number["identified"] for number in answer["numbers"])},
            "classes": by_class(rows), "sources": by(rows, "source"), "apart": trusts,
            "left_out": left_out(answer), "regimes": regimes(answer),
            "folds": folds(fold_alone["rows"]) if fold_alone else folds(rows),
            "stacks": {stack["stack"]: stack_summary(stack) for stack in answer["left_out_stacks"]},
            "ranking": ranking_summary(answer["questions"]),
            "causes": causes(rows),
            "worst": [{"id": row["id"], "error": round(tested_error(row), 4), "class": class_of(row),
                       "stack": row["stack"], "strategy": row["strategy"]} for row in moved]}


def tensor_parallel(row):
    degree = re.match(r"tp (\d+) ", row["strategy"])
    return int(degree.group(1)) if degree else 1


def shipped_summary(answer):
    """Of `plan validate --json`: step times as the shipped stack predicts them, and the share inside its interval."""
    rows = [row for row in answer["rows"] if row["kind"] == "time"]
    inside = sum(row["predicted"]["low"] <= row["measured"] <= row["predicted"]["high"] for row in rows)
    return dict(series([row["error"] for row in rows]), coverage=round(inside / len(rows), 4))


def host_bound_summary(answer, shipped):
    """Of runs that were tested question by question: errors by degree of tensor parallelism, and how they rank;
    `shipped`: the same runs as the shipped stack predicts them."""
    rows = answer["rows"]
    degrees = sorted({tensor_parallel(row) for row in rows})
    return {"format": "plumbline.host_bound_summary/2", "rows": len(rows), "shipped": shipped_summary(shipped),
            "tested": both(rows)["tested"],
            "coverage": both(rows)["coverage"], "ranking": ranking_summary(answer["questions"]),
            "by_tp": {str(tp): series([tested_error(row) for row in rows if tensor_parallel(row) == tp])
                      for tp in degrees}}


def dump(kept, path):
    """One line per entry, so that a change reads as one."""
    lines = []
    for key, value in kept.items():
        if isinstance(value, dict) and key not in ("numbers", "ranking", "tested", "shipped"):
            inner = ",\n".join(f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items())
            lines.append(f"  {json.dumps(key)}: {{\n{inner}\n  }}")
        elif isinstance(value, list):
            inner = ",\n".join(f"    {json.dumps(entry)}" for entry in value)
            lines.append(f"  {json.dumps(key)}: [\n{inner}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    if sys.argv[1] == "--host-bound":
        dump(host_bound_summary(read(sys.argv[2]), read(sys.argv[3])), sys.argv[4])
    else:
        dump(summary(read(sys.argv[1]), read(sys.argv[3]) if len(sys.argv) > 3 else None), sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
