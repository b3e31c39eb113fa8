#!/usr/bin/env bash
# Finds a CUDA toolkit of 12 or later, and installs one where there is none: of the distribution, else as Python packages.
# Usage: setup_cuda.sh [FOLDER]     prints what cmake is to be given; what is done goes to the standard error
#   FOLDER  of the Python packages, 2.2 GB; build/cuda-toolkit. With them are cuBLASLt, cuDNN and NCCL, which the module loads
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-$PWD/build/cuda-toolkit}
say() { echo "make cuda: $*" >&2; }

# The major version of an nvcc; 0: it is none.
version() { "$1" --version 2>/dev/null | sed -nE 's/.*release ([0-9]+)\..*/\1/p' | grep . || echo 0; }

for nvcc in "$(command -v nvcc || true)" "${CUDA_PATH:-/nowhere}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
  if [ -x "$nvcc" ] && [ "$(version "$nvcc")" -ge 12 ]; then
    echo "-DPLUMBLINE_NVCC=$nvcc"
    exit
  fi
done

# Debian's non-free parts and Ubuntu have one.
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
offered=$(apt-cache madison nvidia-cuda-toolkit 2>/dev/null | awk -F'|' 'NR == 1 { split($2, part, "."); print part[1] + 0 }' || true)
if [ "${offered:-0}" -ge 12 ] && "${as_root[@]}" true 2>/dev/null; then
  say "installing nvidia-cuda-toolkit"
  if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q nvidia-cuda-toolkit >&2; then
    echo "-DPLUMBLINE_NVCC=$(command -v nvcc)"
    exit
  fi
fi

# CUDA 13 needs a driver of 580 or later (CUDA 13.0 release notes, table of minimum drivers).
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | sed -nE '1s/^([0-9]+).*/\1/p' || true)
if [ -n "$driver" ] && [ "$driver" -lt 580 ]; then
  say "no CUDA toolkit of 12 or later, and what Python packages have, 13, needs a driver of 580 or later (here: $driver);" \
    "expected NVIDIA's toolkit 12, or apt-get install nvidia-cuda-toolkit (Debian 13, Ubuntu 24.04)"
  exit 3
fi
toolkit=$folder/nvidia/cu13
if [ ! -x "$toolkit/bin/nvcc" ]; then
  say "no CUDA toolkit of 12 or later here: installing NVIDIA's Python packages into $folder (2.2 GB)"
  # The compiler is the one that CI compiles with.
  packages=(nvidia-cuda-nvcc==13.0.* nvidia-cuda-crt==13.0.* nvidia-nvvm==13.0.* nvidia-cuda-runtime==13.0.* nvidia-cuda-cccl==13.0.*
    nvidia-cuda-nvrtc==13.0.* nvidia-nvtx==13.0.* nvidia-cublas==13.* nvidia-cudnn-cu13==9.* nvidia-nccl-cu13==2.* nvidia-cudnn-frontend==1.*)
  rm -rf "$folder.part"
  if ! python3 -m pip install -q --no-deps --disable-pip-version-check --target "$folder.part" \
    "${packages[@]}" >&2; then
    rm -rf "$folder.part"
    say "no CUDA toolkit of 12 or later, and none could be installed; expected apt-get install nvidia-cuda-toolkit (Debian 13," \
      "Ubuntu 24.04), NVIDIA's own, or python3 with pip and its network"
    exit 3
  fi
  # As a toolkit lies: the linker and cmake look for lib64 and names without versions.
  ln -s lib "$folder.part/nvidia/cu13/lib64"
  for library in "$folder.part"/nvidia/cu13/lib/lib*.so.*; do
    name=$(basename "$library")
    ln -sf "$name" "$folder.part/nvidia/cu13/lib/${name%%.so.*}.so"
  done
  rm -rf "$folder"
  mv "$folder.part" "$folder"
fi
echo "-DPLUMBLINE_NVCC=$toolkit/bin/nvcc -DPLUMBLINE_CUDA_PACKAGES=$folder"
