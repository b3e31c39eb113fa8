# Flags of NVIDIA/Megatron-LM examples/deepseek2_lite/train_deepseek2_lite_h100_fp8.sh, commit 00c3f9634e7a8ba142e512ebbd11fdf8a5c3dd0b (BSD-3-Clause).
NUM_LAYERS=16
MOE_LAYERS=$(($NUM_LAYERS-1))
MOE_ARGS=(
    --num-experts 64
    --moe-layer-freq "([0]+[1]*$MOE_LAYERS)"
    --moe-ffn-hidden-size 1408
    --moe-grouped-gemm
    --moe-router-topk 6
    --moe-shared-expert-intermediate-size 2816
    --moe-token-drop-policy probs
)
torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py \
  --num-layers $NUM_LAYERS --hidden-size 2048 --ffn-hidden-size 10944 --num-attention-heads 16 --kv-channels 16 \
  --seq-length 1024 --max-position-embeddings 1024 --attention-dropout 0.0 --hidden-dropout 0.0 --disable-bias-linear \
  --untie-embeddings-and-output-weights --normalization RMSNorm --norm-epsilon 1e-6 --swiglu \
  --no-masked-softmax-fusion --attention-softmax-in-fp32 --use-mcore-models --tokenizer-type HuggingFaceTokenizer \
  --make-vocab-size-divisible-by 3200 --transformer-impl local --multi-latent-attention --kv-lora-rank 512 \
  --v-head-dim 128 --qk-head-dim 128 --qk-layernorm --qk-pos-emb-head-dim 64 --position-embedding-type rope \
  --no-rope-fusion --rotary-percent 1.0 --rotary-base 10000 --rotary-scaling-factor 40 --mscale 0.707 \
  --mscale-all-dim 0.707 ${MOE_ARGS[@]} --micro-batch-size 1 --global-batch-size 64 --train-samples 47340000 \
  --lr 0.00015 --bf16 --grad-reduce-in-bf16 --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather \
  --tensor-model-parallel-size 8 --context-parallel-size 1 --pipeline-model-parallel-size 1 --sequence-parallel \
  --vocab-size 128256
