#!/usr/bin/env bash
# Everything that needs a GPU, in one go, for a machine that is lent for minutes: what is there, tables of kernels, runs
# of plans beside their predictions, PyTorch's own, and pictures. Builds nothing, and goes on where a step fails: what
# was measured is kept, and the last lines say what was not.
# Usage: scripts/gpu_session.sh [--plan bin/plan] [--machine dgx-h100] [--stack NAME] [--seconds 1500] [--tiny] [OUT]
#   --plan     the program, with libplumbline-cuda.so beside it (make cuda); build/bin/plan
#   --machine  what `plan machines` calls this one; dgx-h100
#   --stack    the software stack whose habits price the plans; absent: the one that the calibration writes
#   --seconds  after which no further step begins
#   --tiny     small shapes on whatever computes: shows that the script works, no more
#   OUT        folder; models/measurements/<device>-<date>
set -uo pipefail
cd "$(dirname "$0")/.."
usage() { sed -n '2,12p' "$0" >&2; exit 2; }
plan=build/bin/plan machine=dgx-h100 stack= seconds=1500 tiny= out=
while [ "$#" -gt 0 ]; do
  case $1 in
    --plan | --machine | --stack | --seconds) [ "$#" -ge 2 ] || usage; declare "${1#--}=$2"; shift ;;
    --tiny) tiny=yes ;;
    -*) usage ;;
    *) [ -z "$out" ] || usage; out=$1 ;;
  esac
  shift
done
[ -x "$plan" ] || { echo "gpu_session: $plan: no such program; expected one that make cuda built" >&2; exit 2; }
plan=$(readlink -f "$plan")
begin=$(date +%s)
ranks=(--ranks local)  # of the runs
more=()                # flags of the runs at hand
failed=() skipped=()

device_name() {
  nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 | tr -cs 'A-Za-z0-9\n' '-' | sed 's/-*$//'
}
device=$(device_name); device=${device:-no-device}
out=${out:-models/measurements/$device-$(date -u +%Y-%m-%d)}
mkdir -p "$out" || exit 3
out=$(readlink -f "$out")
exec > >(tee "$out/session.log") 2>&1
exec 3>&1  # what is said of steps whose output goes elsewhere

# step NAME COMMAND...: says how long it took, and remembers what failed.
step() {
  local name=$1 code=0 from
  shift
  from=$(date +%s)
  if [ $((from - begin)) -ge "$seconds" ]; then
    skipped+=("$name")
    echo "== $name: skipped, the $seconds s are over" >&3
    return 1
  fi
  echo "== $name" >&3
  "$@" || code=$?
  echo "-- $name: exit $code after $(($(date +%s) - from)) s" >&3
  [ "$code" -eq 0 ] || failed+=("$name (exit $code)")
  return "$code"
}
skip() { skipped+=("$1"); echo "== $1: skipped: $2"; }

echo "gpu_session of $(date -u +%Y-%m-%dT%H:%M:%SZ), into $out"
if command -v nvidia-smi >/dev/null; then
  step "device" nvidia-smi --query-gpu=name,uuid,driver_version,memory.total,power.limit,clocks.max.sm,clocks.max.mem \
    --format=csv
else
  skip "device" "no nvidia-smi"
fi
step "doctor" bash -c "'$plan' doctor && '$plan' doctor --json >'$out/doctor.json'"

calibrated=
calibrate() {
  local flags=(--backend cuda --kernels-out "$out/kernels.json")
  [ -z "$tiny" ] || flags+=(--brief)
  "$plan" calibrate "${flags[@]}" || return
  [ -z "$tiny" ] || return 0  # times of small shapes fit no law
  "$plan" calibrate --kernels "$out/kernels.json" --machine "$machine" --stack "${stack:-unknown}" \
    --out "$out/calibrated.json" && calibrated=$out/calibrated.json
}
step "calibrate" calibrate

# run NAME STEPS ESTIMATE-FLAGS...: a plan, its run, and both beside each other.
run() {
  local name=$1 steps=$2 priced=()
  shift 2
  [ -z "${stack:-$calibrated}" ] || priced=(--stack "${stack:-$calibrated}")
  step "plan $name" "$plan" estimate "$@" "${priced[@]}" --out "$out/$name.plan.json" >/dev/null || return
  step "run $name" "$plan" run --plan "$out/$name.plan.json" --backend cuda "${ranks[@]}" "${more[@]}" --steps "$steps" \
    --held-out 0 --generate 0 --record "$out/$name.run.json" --trace "$out/$name.trace.json" --picture "$out/$name.svg" >/dev/null || return
  step "compare $name" bash -c \
    "'$plan' compare --plan '$out/$name.plan.json' --measured '$out/$name.run.json' --json >'$out/$name.compare.json' &&
     '$plan' compare --plan '$out/$name.plan.json' --measured '$out/$name.run.json'"
}
# of MODEL SEQUENCE BATCH FLAGS...: on one GPU, named by what it varies.
of() {
  local model=$1 sequence=$2 batch=$3 name
  shift 3
  name=$(echo "$model-s$sequence-b$batch $* ${ranks[1]}" | tr -s ' :/-' '-' | sed 's/-*$//')
  run "$name" 8 --model "$model" --machine "$machine" --seq-len "$sequence" --global-batch "$batch" "$@"
}

if [ -n "$tiny" ]; then
  small() { run "$1" 2 --model "$2" --machine this-computer --seq-len 16 --global-batch 2 "${@:3}"; }
  small gpt nano-gpt --gpus 1 --precision bf16
  small gpt-tp2 nano-gpt --gpus 2 --tp 2 --precision fp32
  PLUMBLINE_ATTENTION=own small gpt-own-attention nano-gpt --gpus 1 --precision bf16
  more=(--rounding stochastic)
  small gpt-stochastic nano-gpt --gpus 1 --precision bf16-pure
  more=()
  ranks=(--ranks nccl)
  small gpt-nccl nano-gpt --gpus 1 --precision bf16
else
  # 124M to 8B parameters; micro-batch, recompute, precision and optimizer vary.
  for batch in 4 8 16 32; do of gpt2 1024 $batch --gpus 1 --micro-batch $batch; done
  of gpt2 1024 16 --gpus 1 --micro-batch 16 --recompute full
  of gpt2 1024 16 --gpus 1 --micro-batch 16 --recompute selective
  of gpt2 1024 16 --gpus 1 --micro-batch 4
  of gpt2 1024 8 --gpus 1 --micro-batch 8 --precision fp32
  of gpt2 1024 8 --gpus 1 --micro-batch 8 --precision fp16
  for batch in 4 8 16; do of gpt2-medium 1024 $batch --gpus 1 --micro-batch $batch; done
  for batch in 2 4 8; do of gpt2-xl 1024 $batch --gpus 1 --micro-batch $batch; done
  of gpt2-xl 1024 8 --gpus 1 --micro-batch 8 --recompute full
  for batch in 1 2 4; do of llama-3.2-1b 4096 $batch --gpus 1 --micro-batch $batch; done
  of llama-3.2-1b 8192 1 --gpus 1 --micro-batch 1 --recompute full
  of llama-3.2-1b 2048 8 --gpus 1 --micro-batch 2 --optimizer lion
  of llama-3.2-3b 4096 1 --gpus 1 --micro-batch 1 --recompute full --precision bf16-pure
  of llama-3.1-8b 2048 1 --gpus 1 --micro-batch 1 --recompute full --precision bf16-pure --optimizer sgd
  more=(--rounding stochastic)
  of gpt2 1024 8 --gpus 1 --micro-batch 8 --precision bf16-pure
  more=()
  # Attention by our own kernels, where cuDNN's is the default.
  PLUMBLINE_ATTENTION=own run gpt2-own-attention 8 --model gpt2 --machine "$machine" --seq-len 1024 --global-batch 16 \
    --gpus 1 --micro-batch 16
  PLUMBLINE_ATTENTION=own run llama-3.2-1b-own-attention 8 --model llama-3.2-1b --machine "$machine" --seq-len 4096 \
    --global-batch 2 --gpus 1 --micro-batch 2
  # Strategies on local ranks of the one GPU: their numbers and bytes, no speed.
  of gpt2 1024 8 --gpus 2 --tp 2
  of gpt2 1024 8 --gpus 2 --pp 2
  of gpt2 1024 8 --gpus 4 --zero 3
  # Over NCCL, where there are GPUs for it.
  gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
  ranks=(--ranks nccl)
  of gpt2 1024 8 --gpus 1 --micro-batch 4
  if [ "$gpus" -ge 2 ]; then
    of gpt2-xl 1024 16 --gpus "$gpus" --zero 3 --micro-batch 2
    of llama-3.2-1b 4096 16 --gpus "$gpus" --tp 2 --micro-batch 1
  else
    skip "several GPUs over NCCL" "there is one"
  fi
fi

python=$(command -v python3)
if "$python" -c 'import torch' 2>/dev/null; then
  if [ -n "$tiny" ]; then
    step "pytorch" "$python" scripts/measure_training.py --device cpu --tiny --out "$out/pytorch.json"
  else
    step "pytorch" "$python" scripts/measure_training.py --seconds 300 --out "$out/pytorch.json"
    step "pytorch kernels" "$python" scripts/measure_kernels.py --name "$device" --seconds 120 \
      --out "$out/pytorch-kernels.json"
  fi
else
  skip "pytorch" "NO PYTORCH HERE: nothing is measured beside the runs (pip install torch)"
fi

# Kernels once more, with our own attention: its distance from cuDNN's. Last, as it takes as long as the calibration.
[ -n "$tiny" ] || step "kernels with own attention" env PLUMBLINE_ATTENTION=own "$plan" calibrate --backend cuda \
  --kernels-out "$out/kernels-own-attention.json"

echo
echo "files in $out: $(find "$out" -type f | wc -l); ${#failed[@]} steps failed, ${#skipped[@]} were skipped"
for one in "${failed[@]}"; do echo "failed: $one"; done
for one in "${skipped[@]}"; do echo "skipped: $one"; done
[ "${#failed[@]}" -eq 0 ] || exit 1
