# Flags of NVIDIA/Megatron-LM examples/pretrain_gpt3_175B.sh, commit 090e141cc47ddf3317464bf9af7561b932c131c1 (BSD-3-Clause).
#SBATCH <SLURM OPTIONS> --nodes=128 --exclusive --ntasks-per-node=8 --job-name=megatron_gpt3_175b
options=" --tensor-model-parallel-size 8 --pipeline-model-parallel-size 16 --num-layers 96 --hidden-size 12288 \
  --num-attention-heads 96 --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 \
  --global-batch-size 1536 --rampup-batch-size 16 16 5859375 --train-samples 146484375 --lr-decay-samples 126953125 \
  --lr-warmup-samples 183105 --lr 6.0e-5 --min-lr 6.0e-6 --lr-decay-style cosine --log-interval 10 --eval-iters 40 \
  --eval-interval 1000 --save-interval 1000 --split 98,2,0 --clip-grad 1.0 --weight-decay 0.1 --adam-beta1 0.9 \
  --adam-beta2 0.95 --init-method-std 0.006 --fp16 --checkpoint-activations "
run_cmd="python -u pretrain_gpt.py $@ ${options}"
srun -l --container-image "image" --output=log sh -c "${run_cmd}"
