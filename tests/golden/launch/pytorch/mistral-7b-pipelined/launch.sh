#!/usr/bin/env bash
# Starts the training on 2 nodes of 8 GPUs. Run it on every node, with NODE_RANK (0 to 1),
# MASTER_ADDR (the node of NODE_RANK 0) and MASTER_PORT in the environment.
set -euo pipefail

exec torchrun \
  --nnodes=2 \
  --nproc-per-node=8 \
  --node-rank="${NODE_RANK:?is the number of this node}" \
  --master-addr="${MASTER_ADDR:?is the address of the node of NODE_RANK 0}" \
  --master-port="${MASTER_PORT:-29500}" \
  train.py
