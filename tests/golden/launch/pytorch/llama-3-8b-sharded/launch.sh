#!/usr/bin/env bash
# Starts the training on 8 GPUs.
set -euo pipefail

exec torchrun \
  --standalone \
  --nnodes=1 \
  --nproc-per-node=8 \
  train.py
