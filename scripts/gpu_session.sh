#!/usr/bin/env bash
# Everything that needs a GPU, in one go, for a machine that is lent for minutes: the device's facts, PyTorch's kernel
# tables and training steps (the outside truth), then the tests that run on a GPU. Build before, measure once.
# Usage: scripts/gpu_session.sh MEASURE.py OUT [SECONDS]
#   MEASURE.py  a script that takes --out DIR and --seconds N and writes DIR/*.json (rows of docs/calibrations.md)
#   OUT         folder for the results; what it holds goes to models/measurements/<device>-<date>/ afterwards
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$#" -ge 2 ] || { sed -n '2,7p' "$0" >&2; exit 2; }
measure=$1
out=$2
seconds=${3:-480}
[ -f "$measure" ] || { echo "gpu_session: $measure: no such file" >&2; exit 2; }
command -v nvidia-smi >/dev/null || { echo "gpu_session: no NVIDIA driver here; nothing was measured" >&2; exit 3; }
mkdir -p "$out"

echo "== device"
nvidia-smi --query-gpu=name,uuid,driver_version,memory.total,power.limit,clocks.max.sm,clocks.max.mem,clocks.sm \
  --format=csv | tee "$out/device.csv"
date -u +%Y-%m-%dT%H:%M:%SZ >"$out/date.txt"

echo "== kernel tables and training steps, at most $seconds s"
PYTHONUNBUFFERED=1 python3 "$measure" --out "$out" --seconds "$seconds" || echo "gpu_session: measuring ended early; what was written is kept"

if [ -f build/CTestTestfile.cmake ]; then
  echo "== tests that need a GPU"
  ctest --test-dir build -L gpu --output-on-failure --no-tests=ignore 2>&1 | tee "$out/tests.log"
fi
ls -l "$out"
