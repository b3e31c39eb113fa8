#!/usr/bin/env bash
# Everything that needs a GPU, in one go, for a machine that is lent for minutes: what is there, tables of kernels, runs
# of plans beside their predictions, PyTorch's own, and pictures. Builds nothing, and goes on where a step fails: what
# was measured is kept, and the last lines say what was not.
# Usage: scripts/gpu_session.sh [--plan bin/plan] [--machine dgx-h100] [--stack NAME] [--seconds 1500] [--tiny] [--out DIR] [PART...]
#   PART       what to do, in this order; absent: all
#                check      what is there
#                tests      every kernel against the CPU's, and small plans by both (bin/kernels_gpu_tests beside the program)
#                kernels    the table of kernels, and the calibration that follows from it
#                runs       plans of 124M to 8B parameters, their runs, and both beside each other
#                fit        the largest micro-batch that is predicted to fit, which must, and the next, which must not
#                nccl       runs over NCCL
#                pytorch    runs beside PyTorch's, like for like: the same network, first weights, tokens, batch, precision,
#                           optimizer and recompute; its kernels; where it is installed
#                speed      model FLOP/s of the runs beside PyTorch's, in one table
#                bench      kernels as shares of the device's ceilings (bin/device_kernels_bench beside the program)
#                sanitizer  a small run under compute-sanitizer, where it is found
#                attention  the table of kernels once more, with our own attention
#   --plan     the program, with libplumbline-cuda.so beside it (make cuda); build/bin/plan
#   --machine  what `plan machines` calls this one; dgx-h100
#   --stack    the software stack whose habits price the plans; absent: the one that the calibration writes
#   --seconds  after which no further step begins
#   --tiny     small shapes on whatever computes: shows that the script works, no more
#   --out      folder; models/measurements/<device>-<date>. What it holds already is not done again: parts, and a session
#              that was cut off, go on in the same folder
set -uo pipefail
cd "$(dirname "$0")/.."
usage() { sed -n '5,27p' "$0" >&2; exit 2; }
all_parts="check tests kernels runs fit nccl pytorch speed bench sanitizer attention"
plan=build/bin/plan machine=dgx-h100 stack= seconds=1500 tiny= out= parts=
while [ "$#" -gt 0 ]; do
  case $1 in
    --plan | --machine | --stack | --seconds | --out) [ "$#" -ge 2 ] || usage; declare "${1#--}=$2"; shift ;;
    --tiny) tiny=yes ;;
    -*) usage ;;
    *)
      case " $all_parts " in
        *" $1 "*) parts="$parts $1" ;;
        *) echo "gpu_session: '$1' is no part; expected one of $all_parts" >&2; exit 2 ;;
      esac ;;
  esac
  shift
done
parts=" ${parts:-$all_parts} "
asked() { [[ $parts == *" $1 "* ]]; }
[ -x "$plan" ] || { echo "gpu_session: $plan: no such program; expected one that make cuda built" >&2; exit 2; }
plan=$(readlink -f "$plan")
begin=$(date +%s)
python=$(command -v python3)
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
exec > >(tee -a "$out/session.log") 2>&1
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

# fresh NAME FILE: whether FILE is still to be made.
fresh() {
  [ ! -s "$2" ] && return
  echo "== $1: there already"
  return 1
}

echo "gpu_session of $(date -u +%Y-%m-%dT%H:%M:%SZ), into $out:$parts"
if asked check; then
  if command -v nvidia-smi >/dev/null; then
    step "device" nvidia-smi --query-gpu=name,uuid,driver_version,memory.total,power.limit,clocks.max.sm,clocks.max.mem \
      --format=csv
  else
    skip "device" "no nvidia-smi"
  fi
  step "doctor" bash -c "'$plan' doctor && '$plan' doctor --json >'$out/doctor.json'"
fi

# program PART NAME COMMAND...: of a program that make cuda puts beside the command.
beside() {
  local part=$1 name=$2
  shift 2
  fresh "$part" "$out/$part.txt" || return
  if [ -x "$(dirname "$plan")/$name" ]; then
    step "$part" bash -o pipefail -c '"$@" 2>&1 | tee "$0.part" && mv "$0.part" "$0"' "$out/$part.txt" "$(dirname "$plan")/$name" "$@"
  else
    skip "$part" "no $name beside the program (make cuda)"
  fi
}

if asked tests; then
  beside tests kernels_gpu_tests '~[counted]'
  small=()
  [ -z "$tiny" ] || small=(--only "llama --precision fp32 --gpus 1 --optimizer lion")
  if fresh "backends" "$out/backends.json"; then
    step "backends" "$python" scripts/compare_backends.py --plan "$plan" --out "$out/backends.json" "${small[@]}"
  fi
fi

calibrate() {
  local flags=(--backend cuda --kernels-out "$out/kernels.json")
  [ -z "$tiny" ] || flags+=(--brief)
  "$plan" calibrate "${flags[@]}" || return
  [ -z "$tiny" ] || return 0  # times of small shapes fit no law
  "$plan" calibrate --kernels "$out/kernels.json" --machine "$machine" --stack "${stack:-plumbline-cuda}" \
    --out "$out/calibrated.json"
}
if asked kernels && fresh "calibrate" "$out/kernels.json"; then step "calibrate" calibrate; fi
calibrated=
[ ! -s "$out/calibrated.json" ] || calibrated=$out/calibrated.json

# network MODEL: what plans are asked for. GPT-2 without its dropout of attention, which no fast kernel takes, and whose draws
# no two programs share.
network() {
  local file=$out/networks/$1.json
  case $1 in gpt2*) ;; *) echo "$1"; return ;; esac
  mkdir -p "$out/networks"
  [ -s "$file" ] || python3 -c 'import json, sys
config = json.load(open(sys.argv[1]))["config"]
json.dump({**config, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}, open(sys.argv[2], "w"))' "models/networks/$1.json" "$file"
  echo "$file"
}

# run NAME STEPS ESTIMATE-FLAGS...: a plan, its run, and both beside each other.
run() {
  local name=$1 steps=$2 priced=()
  shift 2
  fresh "$name" "$out/$name.compare.json" || return 0
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
  run "$name" 8 --model "$(network "$model")" --machine "$machine" --seq-len "$sequence" --global-batch "$batch" "$@"
}

# Networks that a processor runs in a moment.
if [ -n "$tiny" ]; then
  mkdir -p "$out/tiny"
  gated='"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 256, "max_position_embeddings": 64'
  echo '{"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 64, "vocab_size": 256, "n_positions": 64}' >"$out/tiny/gpt.json"
  echo '{"model_type": "llama", '"$gated"'}' >"$out/tiny/llama.json"
  echo '{"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2, '"$gated"'}' >"$out/tiny/moe.json"
fi
# small NAME NETWORK FLAGS...
small() { run "$1" 2 --model "$out/tiny/$2.json" --machine this-computer --seq-len 16 --global-batch 2 "${@:3}"; }

# graph_pair CALLS COMMAND NAME FLAGS...: the run NAME, whose steps are one CUDA graph each, beside the run CALLS, which has the same
# plan and gives its steps call by call. Losses that differ by more than 2^-8 fail the step: each run chooses its products'
# algorithms by their times, and with the same ones losses are equal.
graph_pair() {
  local calls=$1 name=$3
  more=(--graph)
  "${@:2}"
  more=()
  [ -s "$out/$calls.run.json" ] && [ -s "$out/$name.run.json" ] && fresh "graph beside calls, $name" "$out/$name.pair.json" || return 0
  step "graph beside calls, $name" "$python" -c 'import json, statistics, sys
calls, graph = (json.load(open(file)) for file in sys.argv[1:3])
timed = [[step["time_ns"] / 1e6 for step in run["steps"][run["warmup_steps"]:]] for run in (calls, graph)]
losses = [(one["loss"], other["loss"]) for one, other in zip(calls["steps"], graph["steps"], strict=True)]
apart = max(abs(one - other) / abs(one) for one, other in losses)
calls_ms, graph_ms = map(statistics.median, timed)
print(f"a step takes {calls_ms:.3f} ms call by call, {graph_ms:.3f} ms as a graph; losses are at most {apart:.1e} apart")
json.dump({"calls_ms": calls_ms, "graph_ms": graph_ms, "losses_apart": apart}, open(sys.argv[3], "w"))
sys.exit(0 if apart <= 2 ** -8 and graph["launch"] == "graph" else 1)' "$out/$calls.run.json" "$out/$name.run.json" "$out/$name.pair.json"
}

tiny_runs() {
  local one=(--gpus 1) two=(--gpus 2) precision
  for precision in fp32 bf16 fp16 bf16-pure; do small "gpt-$precision" gpt "${one[@]}" --precision $precision; done
  small gpt gpt "${one[@]}" --precision bf16 --micro-batch 2
  small gpt-recompute gpt "${one[@]}" --precision bf16 --recompute full
  small gpt-selective gpt "${one[@]}" --precision bf16 --recompute selective
  for optimizer in sgd lion; do small "gpt-$optimizer" gpt "${one[@]}" --precision bf16 --optimizer $optimizer; done
  small gpt-tp2 gpt "${two[@]}" --tp 2 --precision fp32
  small gpt-pp2 gpt "${two[@]}" --pp 2 --precision bf16
  small gpt-dp2 gpt "${two[@]}" --precision bf16
  for stage in 1 2 3; do small "gpt-zero$stage" gpt "${two[@]}" --zero $stage --precision bf16; done
  small llama llama "${one[@]}" --precision bf16
  small llama-tp2 llama "${two[@]}" --tp 2 --precision bf16
  small moe moe "${one[@]}" --precision bf16
  PLUMBLINE_ATTENTION=own small gpt-own-attention gpt "${one[@]}" --precision bf16
  more=(--rounding stochastic)
  small gpt-stochastic gpt "${one[@]}" --precision bf16-pure
  more=()
  graph_pair gpt-bf16 small gpt-graph gpt "${one[@]}" --precision bf16
}

# 124M to 8B parameters; micro-batch, recompute, precision and optimizer vary.
runs() {
  local batch
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
  # Steps as CUDA graphs, where the host's launches weigh most: small micro-batches, and a large one beside them.
  for batch in 4 16; do
    graph_pair "gpt2-s1024-b$batch-gpus-1-micro-batch-$batch-local" run "gpt2-graph-b$batch" 8 --model "$(network gpt2)" \
      --machine "$machine" --seq-len 1024 --global-batch $batch --gpus 1 --micro-batch $batch
  done
  graph_pair llama-3.2-1b-s4096-b1-gpus-1-micro-batch-1-local run llama-3.2-1b-graph-b1 8 --model llama-3.2-1b \
    --machine "$machine" --seq-len 4096 --global-batch 1 --gpus 1 --micro-batch 1
  # Attention by our own kernels, where cuDNN's is the default.
  PLUMBLINE_ATTENTION=own run gpt2-own-attention 8 --model "$(network gpt2)" --machine "$machine" --seq-len 1024 --global-batch 16 \
    --gpus 1 --micro-batch 16
  PLUMBLINE_ATTENTION=own run llama-3.2-1b-own-attention 8 --model llama-3.2-1b --machine "$machine" --seq-len 4096 \
    --global-batch 2 --gpus 1 --micro-batch 2
  # Strategies on local ranks of the one GPU: their numbers and bytes, no speed.
  of gpt2 1024 8 --gpus 2 --tp 2
  of gpt2 1024 8 --gpus 2 --pp 2
  of gpt2 1024 8 --gpus 4 --zero 3
}
if asked runs; then if [ -n "$tiny" ]; then tiny_runs; else runs; fi; fi

# fits BATCH: whether the plan of one micro-batch of so many sequences is predicted to fit.
fits() {
  local flags=(--model "$(network gpt2)" --machine "$machine" --seq-len 1024)
  [ -z "$tiny" ] || flags=(--model "$out/tiny/gpt.json" --machine this-computer --seq-len 16)
  [ -z "${stack:-$calibrated}" ] || flags+=(--stack "${stack:-$calibrated}")
  "$plan" estimate "${flags[@]}" --gpus 1 --global-batch "$1" --micro-batch "$1" --out "$out/fit-$1.plan.json" >/dev/null &&
    python3 -c 'import json, sys; sys.exit(0 if json.load(open(sys.argv[1]))["verdict"]["fits"] else 1)' "$out/fit-$1.plan.json"
}
fit_run() { "$plan" run --plan "$out/fit-$1.plan.json" --backend cuda --steps 2 --held-out 0 --generate 0 --record "$out/fit-$1.run.json"; }
fit() {
  local low=1 high=2 most=65536 middle code=0
  [ -z "$tiny" ] || most=2
  fits 1 || { echo "not even one sequence is predicted to fit"; return 1; }
  while [ "$high" -le "$most" ] && fits "$high"; do low=$high high=$((2 * high)); done
  if [ "$high" -le "$most" ]; then
    while [ $((high - low)) -gt 1 ]; do
      middle=$(((low + high) / 2))
      if fits "$middle"; then low=$middle; else high=$middle; fi
    done
  fi
  echo "a micro-batch of $low is predicted to fit"
  fits "$low" && fit_run "$low" || { echo "it does not"; return 1; }
  if [ "$high" -gt "$most" ]; then
    echo '{"largest": '"$low"', "next": null}' >"$out/fit.json"
    return 0
  fi
  fits "$high"
  fit_run "$high" || code=$?
  echo '{"largest": '"$low"', "next": '"$high"', "next_exit_code": '"$code"'}' >"$out/fit.json"
  [ "$code" -ne 0 ] || { echo "a micro-batch of $high, which is predicted not to fit, does"; return 1; }
}
if asked fit && fresh "fit" "$out/fit.json"; then step "fit" fit; fi

if asked nccl; then
  ranks=(--ranks nccl)
  gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
  if [ -n "$tiny" ]; then small gpt-nccl gpt --gpus 1 --precision bf16; else of gpt2 1024 8 --gpus 1 --micro-batch 4; fi
  if [ "$gpus" -lt 2 ] || [ -n "$tiny" ]; then
    skip "several GPUs over NCCL" "there is one"
  else
    of gpt2-xl 1024 16 --gpus "$gpus" --zero 3 --micro-batch 2
    of llama-3.2-1b 4096 16 --gpus "$gpus" --tp 2 --micro-batch 1
  fi
  ranks=(--ranks local)
fi

# like NAME STEPS ESTIMATE-FLAGS...: a run, and PyTorch's from the same first weights over the same tokens.
like() {
  local name=like-$1 steps=$2 priced=() device=cuda
  local run=("$plan" run --plan "$out/$name.plan.json" --backend cuda --held-out 0 --generate 0 --data "$out/like-tokens.bin" --data-format u32)
  shift 2
  fresh "$name" "$out/$name.pytorch.json" || return 0
  [ -z "$tiny" ] || device=cpu
  [ -z "${stack:-$calibrated}" ] || priced=(--stack "${stack:-$calibrated}")
  step "plan $name" "$plan" estimate "$@" --gpus 1 "${priced[@]}" --out "$out/$name.plan.json" >/dev/null || return
  rm -rf "$out/$name.start"
  step "first weights of $name" "${run[@]}" --steps 1 --learning-rate 0 --checkpoint "$out/$name.start" >/dev/null || return
  step "run $name" "${run[@]}" --steps "$steps" --lr-schedule constant --learning-rate 1e-4 --warmup-steps 0 \
    --record "$out/$name.run.json" >/dev/null &&
    step "pytorch $name" "$python" scripts/compare_pytorch.py step --plan "$out/$name.plan.json" --run "$out/$name.run.json" \
      --start "$out/$name.start" --tokens "$out/like-tokens.bin" --device "$device" --out "$out/$name.pytorch.json"
  rm -rf "$out/$name.start"
}
# Bytes of a text as a network sees them that knows no words yet: numbers below 256 are in every vocabulary.
like_tokens() {
  [ -s "$out/like-tokens.bin" ] ||
    "$python" -c 'import array, random, sys
random.seed(1)
array.array("I", (random.randrange(256) for _ in range(1 << 20))).tofile(open(sys.argv[1], "wb"))' "$out/like-tokens.bin"
}
like_for_like() {
  if [ -n "$tiny" ]; then
    echo '{"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 64, "vocab_size": 256, "n_positions": 64, "resid_pdrop": 0.0,
           "embd_pdrop": 0.0, "attn_pdrop": 0.0}' >"$out/tiny/gpt-without-dropout.json"
    like gpt-fp32 3 --model "$out/tiny/gpt-without-dropout.json" --machine this-computer --seq-len 16 --global-batch 4 --micro-batch 2 --precision fp32
    like llama 3 --model "$out/tiny/llama.json" --machine this-computer --seq-len 16 --global-batch 4 --micro-batch 2 \
      --precision bf16 --recompute full
    return
  fi
  local network large
  network=$(network gpt2) large=$(network gpt2-xl)
  like gpt2-fp32 10 --model "$network" --machine "$machine" --seq-len 1024 --global-batch 8 --micro-batch 8 --precision fp32
  like gpt2 20 --model "$network" --machine "$machine" --seq-len 1024 --global-batch 16 --micro-batch 16
  like gpt2-recompute 20 --model "$network" --machine "$machine" --seq-len 1024 --global-batch 16 --micro-batch 16 --recompute full
  like gpt2-xl 20 --model "$large" --machine "$machine" --seq-len 1024 --global-batch 8 --micro-batch 8
  like llama-3.2-1b 20 --model llama-3.2-1b --machine "$machine" --seq-len 4096 --global-batch 4 --micro-batch 2
}
if asked pytorch; then
  if ! "$python" -c 'import torch' 2>/dev/null; then
    skip "pytorch" "NO PYTORCH HERE: nothing is measured beside the runs (pip install torch)"
  else
    like_tokens && like_for_like
    step "like for like" "$python" scripts/compare_pytorch.py table "$out"
    [ -n "$tiny" ] || { fresh "pytorch kernels" "$out/pytorch-kernels.json" && step "pytorch kernels" "$python" scripts/measure_kernels.py \
      --name "$device" --seconds 120 --out "$out/pytorch-kernels.json"; }
  fi
fi

# Of what the folder holds, so once more each time.
if asked speed; then step "speed" "$python" scripts/session_speed.py "$out"; fi

if asked bench; then beside bench device_kernels_bench; fi

sanitize() {
  "$plan" estimate --model nano-gpt --machine this-computer --seq-len 16 --global-batch 2 --gpus 2 --tp 2 --precision bf16 \
    --out "$out/sanitizer.plan.json" >/dev/null &&
    compute-sanitizer --error-exitcode 9 "$plan" run --plan "$out/sanitizer.plan.json" --backend cuda --steps 2 \
      --held-out 0 --generate 0 >"$out/sanitizer.part" 2>&1 && mv "$out/sanitizer.part" "$out/sanitizer.txt"
}
if asked sanitizer && fresh "sanitizer" "$out/sanitizer.txt"; then
  if command -v compute-sanitizer >/dev/null; then
    step "sanitizer" sanitize
  else
    skip "sanitizer" "no compute-sanitizer (of the toolkit, or pip install nvidia-cuda-sanitizer-api)"
  fi
fi

# Kernels once more, with our own attention: its distance from cuDNN's. Last, as it takes as long as the calibration.
if asked attention && [ -z "$tiny" ] && fresh "kernels with own attention" "$out/kernels-own-attention.json"; then
  step "kernels with own attention" env PLUMBLINE_ATTENTION=own "$plan" calibrate --backend cuda \
    --kernels-out "$out/kernels-own-attention.json"
fi

echo
echo "files in $out: $(find "$out" -type f | wc -l); ${#failed[@]} steps failed, ${#skipped[@]} were skipped"
for one in "${failed[@]}"; do echo "failed: $one"; done
for one in "${skipped[@]}"; do echo "skipped: $one"; done
[ "${#failed[@]}" -eq 0 ] || exit 1
