#!/usr/bin/env bash
# Makes in FOLDER what launch_check.py lets read: setup_frameworks.sh FOLDER. From the Python package index: `common`, a virtual
# environment with PyTorch and what stands on it; `torch-312`, PyTorch for Python 3.12 (PYTHON312 names an interpreter), beside which
# packages of Megatron-LM are unpacked: their compiled parts are not needed. What cannot be had is said and left out.
set -euo pipefail
folder=$(realpath -m "${1:?usage: setup_frameworks.sh FOLDER}")
python312=${PYTHON312:-python3.12}
mkdir -p "$folder"

# install ENVIRONMENT PACKAGE...
install() {
  local name=$1
  shift
  "$folder/$name/bin/pip" install -q "$@" || echo "$name: without $*: the check says so and goes on"
}

# environment NAME PYTHON: whether it was made now
environment() {
  [ ! -e "$folder/$1/bin/python" ] || return 1
  "$2" -m venv "$folder/$1" 2>/dev/null && return
  echo "$1: not made: $2 makes no virtual environment"
  rm -rf "${folder:?}/$1"
  return 1
}

# megatron RELEASE NAME: a program bin/python that finds the sources of the release
megatron() {
  local place=$folder/$2
  [ ! -e "$place/bin/python" ] || return 0
  [ -e "$folder/torch-312/bin/python" ] || return 0
  mkdir -p "$place/bin" "$place/sources"
  if ! "$folder/torch-312/bin/pip" download -q --no-deps -d "$place" "megatron-core==$1"; then
    echo "$2: not made: there is no megatron-core $1"
    rm -rf "$place"
    return 0
  fi
  "$folder/torch-312/bin/python" -m zipfile -e "$place"/*.whl "$place/sources"
  printf '#!/bin/sh\nPYTHONPATH="%s" exec "%s" "$@"\n' "$place/sources" "$folder/torch-312/bin/python" >"$place/bin/python"
  chmod +x "$place/bin/python"
}

if environment common python3; then
  install common torch numpy pyyaml transformers peft safetensors setuptools wheel
  install common accelerate==1.15.0 lightning==2.6.6 torchao # which Accelerate asks for with fp8
  install common --no-build-isolation deepspeed==0.19.8
  install common tyro tomli tensorboard datasets
  install common --no-deps torchtitan==0.2.2
fi
if environment torch-312 "$python312"; then install torch-312 torch numpy einops packaging pyyaml omegaconf transformers; fi
megatron 0.17.0 megatron-0.17
megatron 0.18.0 megatron-0.18
megatron 0.19.2 megatron-0.19
