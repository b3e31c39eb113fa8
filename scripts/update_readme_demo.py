#!/usr/bin/env python3
"""Writes the output of `make demo`'s search into README.md, between its markers. Needs the release build."""
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = ("plan search --model llama-3-70b --machine dgx-h100 --gpus 64 --seq-len 8192 --global-batch 512 "
           "--top 10 --out plan.json")

with tempfile.TemporaryDirectory() as folder:
    arguments = [str(ROOT / "build/bin/plan")] + COMMAND.split()[1:]
    output = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=True).stdout
shown = COMMAND.replace(" --top", " \\\n    --top")
block = f"<!-- demo-output:begin -->\n```\n$ {shown}\n{output.rstrip()}\n```\n<!-- demo-output:end -->"
readme = ROOT / "README.md"
readme.write_text(re.sub(r"<!-- demo-output:begin -->.*?<!-- demo-output:end -->", lambda _: block, readme.read_text(), flags=re.S))
