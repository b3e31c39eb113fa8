#!/usr/bin/env python3
"""Model FLOP/s of the runs in a folder of gpu_session.sh, beside PyTorch's where it was measured, in one table.

Usage: session_speed.py FOLDER. Reads NAME.plan.json, NAME.run.json, kernels.json and like-*.pytorch.json there; writes speed.json and
speed.md. A run's rate is the plan's model FLOPs of a step over its median step; the share is of the fastest bf16 product
that the same session measured.
"""
import json
import pathlib
import statistics
import sys


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def own_rows(folder):
    for file in sorted(folder.glob("*.run.json")):
        name = file.name.removesuffix(".run.json")
        plan_file = folder / f"{name}.plan.json"
        if not plan_file.exists():
            continue
        plan, run = read(plan_file), read(file)
        times = [step["time_ns"] * 1e-9 for step in run["steps"][run["warmup_steps"]:]]
        if times:
            step = statistics.median(times)
            yield {"run": name, "by": "plan run", "network": run["model"], "step_s": step,
                   "model_flops_per_s": plan["prediction"]["model_flops_per_step"] / step}


def pytorch_rows(folder):
    """Of compare_pytorch.py, whose first row is plan run's own."""
    for file in sorted(folder.glob("like-*.pytorch.json")):
        name = file.name.removesuffix(".pytorch.json")
        network = read(folder / f"{name}.run.json")["model"]
        for row in read(file)["rows"][1:]:
            yield {"run": name, "by": row["by"], "network": network, "step_s": row["step_s"], "model_flops_per_s": row["model_flops_per_s"]}


def ceiling(folder):
    """FLOP/s of the fastest bf16 product; 0: none was measured."""
    file = folder / "kernels.json"
    products = read(file)["gemm"] if file.exists() else []
    return max((2 * p["batch"] * p["m"] * p["n"] * p["k"] / p["median_s"] for p in products if p["format"] == "bf16"), default=0)


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("session_speed: " + " ".join(sys.argv[1:]) + ": is no folder; expected one of gpu_session.sh")
    folder = pathlib.Path(sys.argv[1])
    rows = [*own_rows(folder), *pytorch_rows(folder)]
    rows.sort(key=lambda row: (row["network"], -row["model_flops_per_s"]))
    most = ceiling(folder)
    lines = ["| network | run | by | step, ms | model TFLOP/s | of the largest product |", "|---|---|---|---|---|---|"]
    for row in rows:
        row["share_of_product"] = row["model_flops_per_s"] / most if most else None
        share = f"{100 * row['share_of_product']:.1f} %" if most else "not measured"
        lines.append(f"| {row['network']} | {row['run']} | {row['by']} | {1e3 * row['step_s']:.2f} | "
                     f"{row['model_flops_per_s'] * 1e-12:.3g} | {share} |")
    (folder / "speed.json").write_text(json.dumps({"format": "plumbline.session_speed/1", "rows": rows}, indent=1) + "\n",
                                       encoding="utf-8")
    (folder / "speed.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
