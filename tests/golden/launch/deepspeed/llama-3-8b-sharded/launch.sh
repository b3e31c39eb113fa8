#!/usr/bin/env bash
# Starts the training on 8 GPUs.
set -euo pipefail

exec torchrun \
  --standalone \
  --nnodes=1 \
  --nproc-per-node=8 \
  train.py \
  --deepspeed_config ds_config.json \
  --model_name_or_path meta-llama/Meta-Llama-3-8B \
  --max_seq_length 4096 \
  --attn_implementation sdpa
