#!/usr/bin/env bash
# Starts one process per GPU by accelerate.yaml.
set -euo pipefail

exec accelerate launch \
  --config_file accelerate.yaml \
  train.py \
  --model_name_or_path meta-llama/Meta-Llama-3-8B \
  --max_seq_length 4096 \
  --attn_implementation sdpa \
  --per_device_train_batch_size 1 \
  --gradient_accumulation_steps 8 \
  --optim adamw_torch
