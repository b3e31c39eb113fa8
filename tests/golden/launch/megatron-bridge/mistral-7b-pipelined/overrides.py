# What a plan says of a Megatron-Bridge recipe: call it on the recipe's ConfigContainer.
from megatron.bridge.training.mixed_precision import get_mixed_precision_config


def configure(cfg):
    cfg.model.tensor_model_parallel_size = 2
    cfg.model.pipeline_model_parallel_size = 4
    cfg.model.virtual_pipeline_model_parallel_size = None
    cfg.model.pipeline_model_parallel_layout = None
    cfg.model.context_parallel_size = 1
    cfg.model.sequence_parallel = True
    cfg.model.expert_model_parallel_size = 1
    cfg.model.seq_length = 4096
    cfg.model.recompute_granularity = None
    cfg.model.recompute_method = None
    cfg.model.recompute_num_layers = None
    cfg.dataset.seq_length = 4096
    cfg.train.micro_batch_size = 1
    cfg.train.global_batch_size = 32
    cfg.ddp.use_distributed_optimizer = False
    cfg.ddp.num_distributed_optimizer_instances = 1
    cfg.ddp.use_megatron_fsdp = False
    cfg.ddp.overlap_grad_reduce = True
    cfg.ddp.overlap_param_gather = False
    cfg.ddp.grad_reduce_in_fp32 = False
    cfg.optimizer.use_distributed_optimizer = False
    cfg.optimizer.optimizer = "adam"
    cfg.mixed_precision = "bf16_mixed"
    cfg.mixed_precision = get_mixed_precision_config(cfg.mixed_precision)
    cfg.mixed_precision.grad_reduce_in_fp32 = False
    return cfg
