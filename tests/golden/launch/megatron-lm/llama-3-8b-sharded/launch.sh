#!/usr/bin/env bash
# Starts the training on 8 GPUs.
set -euo pipefail

exec torchrun \
  --standalone \
  --nnodes=1 \
  --nproc-per-node=8 \
  pretrain_gpt.py \
  --num-layers 32 \
  --hidden-size 4096 \
  --ffn-hidden-size 14336 \
  --num-attention-heads 32 \
  --group-query-attention \
  --num-query-groups 8 \
  --max-position-embeddings 8192 \
  --position-embedding-type rope \
  --rotary-base 500000 \
  --swiglu \
  --normalization RMSNorm \
  --disable-bias-linear \
  --attention-dropout 0 \
  --hidden-dropout 0 \
  --untie-embeddings-and-output-weights \
  --tokenizer-type NullTokenizer \
  --vocab-size 128256 \
  --micro-batch-size 1 \
  --global-batch-size 64 \
  --use-distributed-optimizer \
  --use-megatron-fsdp \
  --ckpt-format fsdp_dtensor \
  --data-parallel-sharding-strategy optim_grads_params \
  --no-gradient-accumulation-fusion \
  --overlap-grad-reduce \
  --overlap-param-gather \
  --recompute-granularity full \
  --recompute-method uniform \
  --recompute-num-layers 1 \
  --bf16 \
  --grad-reduce-in-bf16 \
  --seq-length 4096 \
  --train-iters 100 \
  --lr 1e-04 \
  --mock-data
