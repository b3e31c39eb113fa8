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

echo "== kernels as plan calibrate reads them"
name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
case $name in
  *H200*) name=H200-SXM-141GB ;;
  *H100*HBM3*) name=H100-SXM-80GB ;;
  *A100-SXM4-80GB*) name=A100-SXM-80GB ;;
  *B200*) name=B200-SXM-180GB ;;
esac
if python3 scripts/measure_kernels.py --name "$name" --out "$out/kernels.json" --seconds 120 && [ -x build/bin/plan ]; then
  build/bin/plan calibrate --kernels "$out/kernels.json" --stack torchtitan-2025.06 --out "$out/device.json" |
    tee "$out/device.txt"
fi

if [ -f build/CTestTestfile.cmake ]; then
  echo "== tests that need a GPU"
  ctest --test-dir build -L gpu --output-on-failure --no-tests=ignore 2>&1 | tee "$out/tests.log"
fi
ls -l "$out"
