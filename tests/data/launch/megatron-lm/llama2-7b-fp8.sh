# Flags of NVIDIA/Megatron-LM examples/llama/train_llama2_7b_h100_fp16_fp8.sh, commit efc3f3e1a51d7b111159714ba371c6b43ad5d2e2 (BSD-3-Clause).
NNODES=1
GPUS_PER_NODE=4
megatron_options="  \
  --tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 --seq-length ${SEQ_LEN:-2048} \
  --max-position-embeddings 4096 --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \
  --ffn-hidden-size 11008 --swiglu --normalization RMSNorm --optimizer adam --micro-batch-size 1 \
  --global-batch-size 2048 --lr 9e-7 --min-lr 9e-8 --lr-decay-style linear --adam-beta1 0.9 --adam-beta2 0.95 \
  --weight-decay 0.1 --clip-grad 1.0 --init-method-std 0.01 --seed 1234 --tokenizer-type Llama2Tokenizer \
  --use-rotary-position-embeddings --rotary-percent 1.0 --no-load-rng --no-masked-softmax-fusion \
  --position-embedding-type rope --untie-embeddings-and-output-weights --disable-bias-linear \
  --initial-loss-scale 4096 --attention-softmax-in-fp32 --use-legacy-models
        "
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES $MEGATRON_PATH/pretrain_gpt.py \
 ${megatron_options} --bf16 --fp8-hybrid --fp8-amax-compute-algo max --fp8-amax-history-len 1024 \
 --transformer-impl transformer_engine --recompute-activations --use-distributed-optimizer --use-flash-attn \
 --mock-data --num-workers 5 &> log/0.log
