# Flags of NVIDIA/Megatron-LM examples/llama/train_llama32_1b_h100_fp8.sh, commit 0fe34f3d71ca6a972d0a98d264df7541d51e58c7 (BSD-3-Clause).
torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py \
  --use-mcore-models --num-layers 16 --hidden-size 2048 --ffn-hidden-size 8192 --num-attention-heads 32 \
  --group-query-attention --num-query-groups 8 --kv-channels 128 --seq-length 8192 --max-position-embeddings 8192 \
  --position-embedding-type rope --rotary-base 500000 --rotary-percent 1.0 --attention-dropout 0.0 \
  --hidden-dropout 0.0 --swiglu --init-method-std 0.0134 --attention-backend fused --apply-layernorm-1p \
  --untie-embeddings-and-output-weights --disable-bias-linear --transformer-impl local --micro-batch-size 1 \
  --global-batch-size 128 --train-iters 369844 --lr 0.00015 --min-lr 0.00001 --lr-decay-style cosine --clip-grad 1.0 \
  --weight-decay 0.1 --bf16 --grad-reduce-in-bf16 --calculate-per-token-loss --manual-gc --use-distributed-optimizer \
  --overlap-grad-reduce --overlap-param-gather --fp8-format hybrid --fp8-amax-history-len 1024 \
  --fp8-amax-compute-algo max --tensor-model-parallel-size 4 --context-parallel-size 1 \
  --pipeline-model-parallel-size 1 --sequence-parallel --tokenizer-type HuggingFaceTokenizer --vocab-size 128256
