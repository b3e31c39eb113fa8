#!/usr/bin/env bash
# Starts the training on 2 nodes of 8 GPUs. Run it on every node, with NODE_RANK (0 to 1),
# MASTER_ADDR (the node of NODE_RANK 0) and MASTER_PORT in the environment.
set -euo pipefail

export CUDA_DEVICE_MAX_CONNECTIONS=1

exec torchrun \
  --nnodes=2 \
  --nproc-per-node=8 \
  --node-rank="${NODE_RANK:?is the number of this node}" \
  --master-addr="${MASTER_ADDR:?is the address of the node of NODE_RANK 0}" \
  --master-port="${MASTER_PORT:-29500}" \
  pretrain_gpt.py \
  --num-layers 32 \
  --hidden-size 4096 \
  --ffn-hidden-size 14336 \
  --num-attention-heads 32 \
  --group-query-attention \
  --num-query-groups 8 \
  --max-position-embeddings 32768 \
  --position-embedding-type rope \
  --swiglu \
  --normalization RMSNorm \
  --disable-bias-linear \
  --window-size 4095,0 \
  --attention-dropout 0 \
  --hidden-dropout 0 \
  --untie-embeddings-and-output-weights \
  --tokenizer-type NullTokenizer \
  --vocab-size 32000 \
  --tensor-model-parallel-size 2 \
  --pipeline-model-parallel-size 4 \
  --sequence-parallel \
  --micro-batch-size 1 \
  --global-batch-size 32 \
  --overlap-grad-reduce \
  --bf16 \
  --grad-reduce-in-bf16 \
  --seq-length 4096 \
  --train-iters 100 \
  --lr 1e-04 \
  --mock-data
