# Flags of NVIDIA/Megatron-LM examples/deepseek_v3/train_deepseekv3.sh, commit 83f0eba84e6b96a22da37ddab6caf4eb8e39148c (BSD-3-Clause),
# as MODEL_SIZE=671B EP=8 AC=none makes them.
NUM_SHARED_EXPERTS=1
MOE_INTERMEDIATE_SIZE=2048
moe_options=" \
    --q-lora-rank 1536 --moe-router-score-function sigmoid --moe-router-num-groups 8 --moe-router-group-topk 4 \
    --moe-router-enable-expert-bias --moe-router-bias-update-rate 1e-3 --multi-latent-attention --qk-layernorm \
    --moe-ffn-hidden-size ${MOE_INTERMEDIATE_SIZE} --moe-layer-freq '1' \
    --moe-shared-expert-intermediate-size $((${NUM_SHARED_EXPERTS} * ${MOE_INTERMEDIATE_SIZE})) \
    --moe-router-load-balancing-type seq_aux_loss --moe-router-topk 8 --num-experts 256 \
    --moe-token-dispatcher-type alltoall --moe-shared-expert-overlap --moe-aux-loss-coeff 1e-2 \
    --expert-model-parallel-size ${EP:-8} --expert-tensor-parallel-size ${ETP:-1} --kv-lora-rank 512 --qk-head-dim 128 \
    --qk-pos-emb-head-dim 64 --v-head-dim 128 --kv-channels 128 "
torchrun --nproc_per_node 8 --nnodes $NNODES pretrain_deepseek.py $moe_options \
  --lr 1e-5 --min-lr 1e-6 --clip-grad 1.0 --attention-dropout 0.0 --hidden-dropout 0.0 --micro-batch-size 1 \
  --global-batch-size 128 --num-layers 61 --hidden-size 7168 --num-attention-heads 128 --ffn-hidden-size 18432 \
  --seq-length 4096 --max-position-embeddings 4096 --tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 \
  --swiglu --normalization RMSNorm --norm-epsilon 1e-06 \
  --use-rotary-position-embeddings --position-embedding-type rope --untie-embeddings-and-output-weights \
  --disable-bias-linear --rotary-base 10000 --rotary-scaling-factor 40 --transformer-impl transformer_engine \
  --moe-grouped-gemm --bf16 --use-distributed-optimizer --overlap-grad-reduce --ddp-bucket-size 629145600 \
  --overlap-param-gather --use-flash-attn --moe-use-legacy-grouped-gemm \
  --eod-mask-loss
