# Flags of NVIDIA/Megatron-LM examples/llama/train_llama2.sh, commit 089546167906108147d1b73cdf66e51e5e7ea64d (BSD-3-Clause).
GPUS_PER_NODE=`python3 -c "import torch; print(torch.cuda.device_count())"`
TP="${TP:-8}"
NUM_HEADS=64
NUM_KV_HEADS=8
GROUP_SIZE=$(( ${NUM_HEADS} / ${NUM_KV_HEADS} ))
NUM_GROUPS=$(( ${NUM_HEADS} / ${GROUP_SIZE} ))
GPT_ARGS="
    --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size 1 --context-parallel-size 1 \
    --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads $NUM_HEADS --seq-length 4096 \
    --max-position-embeddings 32000 --untie-embeddings-and-output-weights --position-embedding-type rope \
    --no-position-embedding --swiglu --disable-bias-linear --init-method-std 0.02 --attention-dropout 0.0 \
    --hidden-dropout 0.0 --normalization RMSNorm --micro-batch-size 1 --global-batch-size 8 --train-iters 12 \
    --no-async-tensor-model-parallel-allreduce --bf16 --no-masked-softmax-fusion \
"
run_cmd="
    torchrun --nproc_per_node $GPUS_PER_NODE --nnodes 1 pretrain_gpt.py \
        $GPT_ARGS --group-query-attention --num-query-groups $NUM_GROUPS --no-gradient-accumulation-fusion \
        --distributed-backend nccl --distributed-timeout-minutes 120 --overlap-grad-reduce \
        --use-distributed-optimizer --overlap-param-gather --use-flash-attn --sequence-parallel --use-mcore-models \
        --lr 1e-4 --min-lr 1e-5 --lr-decay-style cosine --weight-decay 1.0e-1 --clip-grad 1.0 --optimizer adam \
        --adam-beta1 0.9 --adam-beta2 0.95 --mock-data
"
eval $run_cmd
