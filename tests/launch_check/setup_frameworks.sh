#!/usr/bin/env bash
# Makes the virtual environments that launch_check.py asks for in FOLDER, from the Python package index: setup_frameworks.sh FOLDER.
# Megatron-LM's packages are of Python 3.12 and are unpacked beside one PyTorch, since their compiled parts are not needed: PYTHON312
# names an interpreter (python3.12). What cannot be had is said and left out.
set -euo pipefail
folder=${1:?usage: setup_frameworks.sh FOLDER}
python312=${PYTHON312:-python3.12}
mkdir -p "$folder"

# environment NAME PYTHON PACKAGE...
environment() {
  local name=$1 python=$2
  shift 2
  [ -e "$folder/$name/bin/python" ] && return
  if ! "$python" -m venv "$folder/$name" 2>/dev/null || ! "$folder/$name/bin/pip" install -q "$@"; then
    echo "$name: not made; the check says so and goes on"
    rm -rf "${folder:?}/$name"
  fi
}

# megatron RELEASE NAME: its sources beside the PyTorch of the environment torch-312
megatron() {
  [ -e "$folder/$2/bin/python" ] && return
  [ -e "$folder/torch-312/bin/python" ] || { echo "$2: not made: there is no $python312 with PyTorch"; return; }
  mkdir -p "$folder/$2/bin" "$folder/$2/sources"
  if ! "$folder/torch-312/bin/pip" download -q --no-deps -d "$folder/$2" "megatron-core==$1"; then
    echo "$2: not made: megatron-core $1 is not to be had"
    rm -rf "${folder:?}/$2"
    return
  fi
  "$python312" -m zipfile -e "$folder/$2"/*.whl "$folder/$2/sources"
  printf '#!/bin/sh\nPYTHONPATH="%s" exec "%s" "$@"\n' "$(realpath "$folder/$2/sources")" "$(realpath -s "$folder/torch-312/bin/python")" >"$folder/$2/bin/python"
  chmod +x "$folder/$2/bin/python"
}

environment pytorch python3 torch numpy
environment accelerate python3 accelerate==1.15.0 torch pyyaml
environment lightning python3 lightning==2.6.6 torch numpy
environment deepspeed python3 torch setuptools wheel
[ -e "$folder/deepspeed/bin/python" ] && "$folder/deepspeed/bin/pip" install -q --no-build-isolation deepspeed==0.19.8
environment torchtitan python3 torch tyro tomli tensorboard datasets
[ -e "$folder/torchtitan/bin/python" ] && "$folder/torchtitan/bin/pip" install -q --no-deps torchtitan==0.2.2
environment torch-312 "$python312" torch numpy einops packaging pyyaml omegaconf transformers
megatron 0.17.0 megatron-0.17
megatron 0.18.0 megatron-0.18
megatron 0.19.2 megatron-0.19
