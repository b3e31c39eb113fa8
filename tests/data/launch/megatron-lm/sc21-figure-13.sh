# Flags of NVIDIA/Megatron-LM examples/academic_paper_scripts/sc21/run_figure_13.sh with CONFIG.sh, commit bae83e49859cb2245344fcb063416cbe203c5972 (BSD-3-Clause).
MEGATRON_EXTRA_PARAMS="--activations-checkpoint-method uniform "
export MEGATRON_PARAMS=" ${MEGATRON_EXTRA_PARAMS} --tensor-model-parallel-size $((64/2)) --pipeline-model-parallel-size 2 \
  --micro-batch-size 1 --global-batch-size 32 --num-layers 32 --hidden-size 20480 --num-attention-heads 128 \
  --DDP-impl local --data-path ${MEGATRON_DATA} --vocab-file ${BPE_VOCAB_FILE} --merge-file ${BPE_MERGE_FILE} \
  --log-interval 5 --seq-length 2048 --max-position-embeddings 2048 --train-iters 500 --lr-decay-iters 320 --lr 0.0001 \
  --min-lr 0.00001 --lr-decay-style cosine --lr-warmup-fraction 0.01 --split 969,30,1 --eval-iters 100 \
  --eval-interval 1000 --clip-grad 1.0 --fp16 --loss-scale 8192 "
