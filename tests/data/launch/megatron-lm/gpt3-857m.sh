# Flags of NVIDIA/Megatron-LM examples/gpt3/train_gpt3_857m_distributed.sh, commit d60f07ce511eab6ef909ab9ba2ae44dcc8090e49 (BSD-3-Clause).
GPUS_PER_NODE=8
NUM_NODES=1
DISTRIBUTED_ARGS=(--nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES --master_addr localhost --master_port 6000)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
  --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 \
  --attention-backend auto --micro-batch-size 8 --global-batch-size 128 --train-iters 500000 --weight-decay 0.1 \
  --adam-beta1 0.9 --adam-beta2 0.95 --init-method-std 0.006 --clip-grad 1.0 --fp16 --lr 6.0e-5 \
  --lr-decay-style cosine --min-lr 6.0e-6 --lr-warmup-fraction .001 --lr-decay-iters 430000 \
  --tensor-model-parallel-size 8 --pipeline-model-parallel-size 1 --data-path $DATA_PATH --split 949,50,1 \
  --log-interval 100 --save-interval 10000 --eval-interval 1000 --eval-iters 10
