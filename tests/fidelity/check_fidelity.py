#!/usr/bin/env python3
"""Compares the errors of `plan validate` with those that were committed.

Usage: check_fidelity.py <plan> <fidelity.json> [--regenerate]
       check_fidelity.py --cross-validated <before.json> <now.json>   two summaries of cross_validation.py
       check_fidelity.py --host-bound <before.json> <now.json>        two of its host-bound summaries
       check_fidelity.py --fold <plan> <cross_validation.json>        one fold again: is the summary of this code?
       check_fidelity.py --shipped <plan> <host_bound.json>           the shipped stack on the file HOST_BOUND_ROWS
       check_fidelity.py --coverage <cross_validation.json>           do the stated intervals hold on left-out sources?
Fails when the mean error of a source, or of all, is more than a tenth of itself above the committed one, when runs are
no longer predicted, or when fewer fit answers are right. What became better is printed, not refused: commit it.
"""
import json
import os
import subprocess
import sys

import cross_validation

GROWTH = 1.1
SERIES = ("time", "memory", "time_inferred", "memory_inferred")
OVERALL = "all sources"
HELD_OUT = "held out of every fit"
FOLD = "1"
SAME = 0.0005  # of a fold's mean error: less than any change of a model moves it, more than another compiler does


def numbers(answer):
    """{source: {series: {"n", "mape"}, "fit": {"n", "right"}}} of an answer of `plan validate --json`."""
    def of(summary):
        kept = {name: {"n": summary[name]["n"], "mape": round(summary[name]["mape"], 5)}
                for name in SERIES if summary[name]["n"]}
        if summary["fit"]["n"]:
            kept["fit"] = summary["fit"]
        return kept
    found = {source: of(summary) for source, summary in sorted(answer["by_source"].items())}
    found[OVERALL] = of(answer["summary_fitted"])
    found[HELD_OUT] = of(answer["summary_held_out"])
    return {source: kept for source, kept in found.items() if kept}


def complaints(old, new):
    """One line for each committed number that got worse."""
    lines = []
    for source, series in old.items():
        for name, before in series.items():
            now = new.get(source, {}).get(name)
            where = f"{source}, {name}"
            if now is None or now["n"] < before["n"]:
                lines.append(f"{where}: {now['n'] if now else 0} runs predicted, were {before['n']}")
            elif name == "fit":
                if now["right"] < before["right"]:
                    lines.append(f"{where}: {now['right']} right, were {before['right']}")
            elif now["mape"] > before["mape"] * GROWTH:
                lines.append(f"{where}: mean error {100 * now['mape']:.2f} %, was {100 * before['mape']:.2f} %")
    return lines


def improvements(old, new):
    return [f"{source}, {name}: mean error {100 * now['mape']:.2f} %, was {100 * before['mape']:.2f} %"
            for source, series in old.items() for name, before in series.items() if name != "fit"
            for now in [new.get(source, {}).get(name)] if now and now["mape"] * GROWTH < before["mape"]]


def cross_validation_complaints(old, new):
    """One line for each tested error of the committed summary that grew by more than a tenth of itself."""
    lines = []
    def compare(where, before, now):
        if now is None or now["n"] < before["n"]:
            lines.append(f"{where}: {now['n'] if now else 0} runs tested, were {before['n']}")
        elif now["mape"] > before["mape"] * GROWTH:
            lines.append(f"{where}: mean error {100 * now['mape']:.2f} %, was {100 * before['mape']:.2f} %")
    for kind in ("classes", "sources"):
        for name, before in old[kind].items():
            compare(name, before["tested"], new[kind].get(name, {}).get("tested"))
    for knowledge, classes in old.get("left_out", {}).items():
        for name, before in classes.items():
            compare(f"{knowledge}, {name}", before, new["left_out"][knowledge].get(name))
    for name, before in old["stacks"].items():
        for when in ("without", "after"):
            if before[when]:
                compare(f"{name}, {when}", before[when], (new["stacks"].get(name) or {}).get(when))
    for name, before in old.get("regimes", {}).items():
        now = new.get("regimes", {}).get(name)
        if now and cross_validation.holds(before) and not cross_validation.holds(now):
            lines.append(f"{name}: {100 * now['coverage']:.1f} % inside the stated interval, were "
                         f"{100 * before['coverage']:.1f} %")
    before, now = old["ranking"]["right"], new["ranking"]["right"]
    if before is not None and (now is None or 1 - now > GROWTH * (1 - before)):
        lines.append(f"pairs in the right order: {now}, were {before}")
    return lines


def host_bound_complaints(old, new):
    """One line for each number of the host-bound summary that got worse by more than a tenth of itself."""
    lines = []
    if new["rows"] < old["rows"]:
        lines.append(f"host-bound: {new['rows']} runs tested, were {old['rows']}")
    before, now = old["ranking"], new["ranking"]
    for what, was, value in (("mean error", old["tested"]["mape"], new["tested"]["mape"]),
                             ("regret", before["mean_regret"], now["mean_regret"]),
                             ("pairs in the wrong order", 1 - before["right"], 1 - now["right"])):
        if value > was * GROWTH:
            lines.append(f"host-bound, {what}: {100 * value:.2f} %, was {100 * was:.2f} %")
    return lines


def fold_complaints(committed, answer):
    """One line when a fold that was tested again is not the committed one."""
    before, now = committed.get("folds", {}).get(FOLD), cross_validation.folds(answer["rows"]).get(FOLD)
    if before and now and before["n"] == now["n"] and abs(before["mape"] - now["mape"]) <= SAME:
        return []
    told = [f"{100 * one['mape']:.2f} % over {one['n']} runs" if one else "not tested" for one in (now, before)]
    return [f"fold {FOLD}: {told[0]}, committed {told[1]}: make cross-validation"]


SKIPPED = 77


def shipped_complaints(kept, answer):
    """One line where the shipped stack itself is farther off host-bound runs than what was committed."""
    now, before = cross_validation.shipped_summary(answer), kept["shipped"]
    if now["n"] == before["n"] and now["mape"] <= before["mape"] * GROWTH:
        return []
    return [f"host-bound runs by the shipped stack: {100 * now['mape']:.2f} % over {now['n']} runs, was "
            f"{100 * before['mape']:.2f} % over {before['n']}"]


def coverage_complaints(kept):
    """One line for each regime whose stated intervals do not hold on whole left-out sources."""
    lines = [f"{name}: {100 * entry['coverage']:.1f} % of {entry['n']} runs inside the stated 90 % interval"
             for name, entry in kept["regimes"].items() if not cross_validation.holds(entry)]
    return lines or ([] if kept["regimes"] else ["no regime was tested"])


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    if sys.argv[1] in ("--cross-validated", "--host-bound"):
        complain = host_bound_complaints if sys.argv[1] == "--host-bound" else cross_validation_complaints
        worse = complain(read(sys.argv[2]), read(sys.argv[3]))
        for line in worse:
            print("WORSE:", line)
        return 1 if worse else 0
    if sys.argv[1] == "--shipped":
        rows = os.environ.get("HOST_BOUND_ROWS", "")
        if not os.path.isfile(rows):
            print("skipped: host-bound runs; HOST_BOUND_ROWS names no file of measured runs")
            return SKIPPED
        done = subprocess.run([sys.argv[2], "validate", "--rows", rows, "--json"], capture_output=True, text=True,
                              check=True, timeout=600)
        worse = shipped_complaints(read(sys.argv[3]), json.loads(done.stdout))
        for line in worse:
            print("WORSE:", line)
        return 1 if worse else 0
    if sys.argv[1] == "--coverage":
        lines = coverage_complaints(read(sys.argv[2]))
        for line in lines:
            print("DOES NOT HOLD:", line)
        return 1 if lines else 0
    if sys.argv[1] == "--fold":
        done = subprocess.run([sys.argv[2], "calibrate", "--cross-validate", "--fold", FOLD], capture_output=True,
                              text=True, check=True, timeout=600)
        stale = fold_complaints(read(sys.argv[3]), json.loads(done.stdout))
        for line in stale:
            print("STALE:", line)
        return 1 if stale else 0
    plan, path = sys.argv[1], sys.argv[2]
    done = subprocess.run([plan, "validate", "--json"], capture_output=True, text=True, check=True, timeout=600)
    new = numbers(json.loads(done.stdout))
    if "--regenerate" in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            lines = [f"  {json.dumps(source)}: {json.dumps(series)}" for source, series in new.items()]
            file.write("{\n" + ",\n".join(lines) + "\n}\n")
        return 0
    with open(path, encoding="utf-8") as file:
        old = json.load(file)
    for line in improvements(old, new):
        print("better:", line, "(make fidelity commits it)")
    worse = complaints(old, new)
    for line in worse:
        print("WORSE:", line)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
