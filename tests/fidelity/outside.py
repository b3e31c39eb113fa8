#!/usr/bin/env python3
"""How far predictions are off steps that the project measured itself, with their framework named and unnamed.

Usage: outside.py <plan> <measurements.json> <compiled.json> <outside.json> [--regenerate]
Fails when a mean error is more than a tenth of itself above the committed one, or when runs are no longer predicted.
<compiled.json> holds steps under torch.compile, which no fit takes.
What was said before any fit or rule had seen these steps (`first`) stays as it was recorded.
"""
import json
import os
import subprocess
import sys
import tempfile

GROWTH = 1.1
KNOWLEDGE = ("unnamed", "named", "compiled")
SERIES = ("time", "memory")
KEPT = ("n", "mape", "bias", "median", "p90", "worst", "coverage")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def unnamed(document):
    """The measurements without what names their framework; whether they were compiled stays, being a fact."""
    return dict(document, common={key: value for key, value in document["common"].items() if key != "framework"})


def summary(answer):
    """{"time": {...}, "memory": {...}} of an answer of `plan validate --json`."""
    return {name: {key: answer["summary"][name][key] if key == "n" else round(answer["summary"][name][key], 5)
                   for key in KEPT} for name in SERIES}


def complaints(old, new):
    lines = []
    for knowledge in KNOWLEDGE:
        for name in SERIES:
            before, now = old[knowledge][name], new[knowledge][name]
            where = f"own steps, framework {knowledge}, {name}"
            if now["n"] < before["n"]:
                lines.append(f"{where}: {now['n']} runs predicted, were {before['n']}")
            elif now["mape"] > before["mape"] * GROWTH:
                lines.append(f"{where}: mean error {100 * now['mape']:.2f} %, was {100 * before['mape']:.2f} %")
    return lines


def predicted(plan, document):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        done = subprocess.run([plan, "validate", "--rows", path, "--json"], capture_output=True, text=True, check=True,
                              timeout=600)
    return summary(json.loads(done.stdout))


def main():
    plan, measurements, compiled, path = sys.argv[1:5]
    document, kept = read(measurements), read(path)
    new = {"unnamed": predicted(plan, unnamed(document)), "named": predicted(plan, document),
           "compiled": predicted(plan, read(compiled))}
    if "--regenerate" in sys.argv:
        kept.update(new)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
            file.write("\n")
        return 0
    worse = complaints(kept, new)
    for line in worse:
        print("WORSE:", line)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
