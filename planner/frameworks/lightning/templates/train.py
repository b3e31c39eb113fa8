## The script that `plan export --to lightning` writes.
# A script for Lightning's Trainer. Put your data in the place of random_tokens.
import math

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint  # plumbline: if checkpoints
from lightning.pytorch.strategies import PLUMBLINE_STRATEGY
from bitsandbytes.optim import GlobalOptimManager  # plumbline: if quantized_states
from torch.optim import AdamW  # plumbline: optimizer_import
from peft import LoraConfig, get_peft_model  # plumbline: if adapters
# plumbline: if tensor_parallel
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
# plumbline: end
from transformers import AutoConfig, AutoModelForCausalLM

# The class of a layer of your model: what FSDP shards and recomputes as one.
from transformers.models.llama.modeling_llama import LlamaDecoderLayer as Block


from random_tokens import random_tokens  # plumbline: random_tokens


from rate_factor import rate_factor  # plumbline: rate_factor


class CausalLanguageModel(L.LightningModule):
    def __init__(
        self, name, sequence_length, attention, recompute, optimizer, lora_rank, learning_rate=1e-5, beta1=0.9,
        beta2=0.999, epsilon=1e-8, momentum=0.9, weight_decay=PLUMBLINE_USUAL_DECAY, lr_schedule="constant", schedule_steps=None, warmup_steps=0,
        final_learning_rate=0.0, load_weights=PLUMBLINE_LOADS_WEIGHTS,
    ):
        super().__init__()
        self.save_hyperparameters()
        self.model_config = AutoConfig.from_pretrained(name)
        setattr(self.model_config, "dtype" if hasattr(self.model_config, "dtype") else "torch_dtype", torch.PLUMBLINE_FORMAT)  # not that of the checkpoint
        self.model = None
        self.losses = []

    def configure_model(self):
        if self.model is not None:
            return
        kernels = {"attn_implementation": self.hparams.attention}
        if self.hparams.load_weights:
            self.model = AutoModelForCausalLM.from_pretrained(self.hparams.name, config=self.model_config, **kernels)
        else:
            self.model = AutoModelForCausalLM.from_config(self.model_config, **kernels)
        if self.hparams.recompute:
            self.model.gradient_checkpointing_enable()
        # plumbline: if adapters
        ## alpha = r: their product is not scaled, as in `plan run`.
        self.model = get_peft_model(
            self.model,
            LoraConfig(r=self.hparams.lora_rank, lora_alpha=self.hparams.lora_rank, target_modules="all-linear"),
        )
        # plumbline: end
        # plumbline: if tensor_parallel
        parallelize_module(
            self.model,
            self.device_mesh["tensor_parallel"],
            {
                "model.layers.*.self_attn.q_proj": ColwiseParallel(),
                "model.layers.*.self_attn.k_proj": ColwiseParallel(),
                "model.layers.*.self_attn.v_proj": ColwiseParallel(),
                "model.layers.*.self_attn.o_proj": RowwiseParallel(),
                "model.layers.*.mlp.gate_proj": ColwiseParallel(),
                "model.layers.*.mlp.up_proj": ColwiseParallel(),
                "model.layers.*.mlp.down_proj": RowwiseParallel(),
            },
        )
        # plumbline: end
        # plumbline: if sharded_layers
        for layer in self.model.model.layers:
            fully_shard(layer)  # plumbline: shard_layer
        fully_shard(self.model, mesh=self.device_mesh["data_parallel"])
        # plumbline: end
        self.vectors = {n for n, p in self.named_parameters() if len(getattr(p, "ds_shape", p.shape)) < 2}

    def training_step(self, batch, index):
        loss = self.model(**batch).loss
        self.losses.append(loss.detach())
        ## Found with Lightning 2.6.6 and DeepSpeed 0.19.8: ClosureResult and DeepSpeedEngine.backward.
        # plumbline: if deepspeed
        return loss * self.trainer.accumulate_grad_batches  # by which Lightning and DeepSpeed both divide it
        # plumbline: else
        return loss
        # plumbline: end

    def on_train_batch_end(self, outputs, batch, index):
        if (index + 1) % self.trainer.accumulate_grad_batches:
            return
        loss = self.trainer.strategy.reduce(torch.stack(self.losses).mean(), reduce_op="mean")
        self.losses.clear()
        self.print(f"step {self.trainer.global_step}: loss {loss.item():.6f}")

    def decayed(self):
        """Matrices, and biases and norms, which no weight decay takes; a shard does not say what it is of."""
        groups = {True: [], False: []}
        for name, parameter in self.named_parameters():
            name = name.replace("_fsdp_wrapped_module.", "").replace("_checkpoint_wrapped_module.", "")
            if parameter.requires_grad:
                groups[name not in self.vectors].append(parameter)
        return [{"params": group} | ({} if decays else {"weight_decay": 0.0}) for decays, group in groups.items() if group]

    def configure_optimizers(self):
        # plumbline: if quantized_states
        # As transformers' Trainer has it, embeddings keep states in 32 bits.
        for module in self.modules():
            if isinstance(module, torch.nn.Embedding):
                GlobalOptimManager.get_instance().register_module_override(module, "weight", {"optim_bits": 32})
        # plumbline: end
        optimizer = PLUMBLINE_OPTIMIZER
        h = self.hparams
        factor = rate_factor(
            h.lr_schedule, h.schedule_steps or self.trainer.max_steps, h.warmup_steps, h.final_learning_rate / h.learning_rate
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
    # plumbline: if sharded_clip

    ## FSDP clips the shards itself: Lightning's own clipping refuses it.
    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        if gradient_clip_val:
            self.trainer.strategy.model.clip_grad_norm_(gradient_clip_val)
    # plumbline: end


L.seed_everything(PLUMBLINE_SEED)  # replicated parameters begin as the same on every rank
model = CausalLanguageModel()  # plumbline: model_call
strategy = PLUMBLINE_STRATEGY()  # plumbline: strategy_call
checkpoints = ModelCheckpoint()  # plumbline: checkpoint_call
trainer = L.Trainer()  # plumbline: trainer_call
data = random_tokens(model.model_config.vocab_size, model.hparams.sequence_length)
loader = torch.utils.data.DataLoader(dataset=data)  # plumbline: loader_call
trainer.fit(model, loader, ckpt_path="last")  # plumbline: if checkpoints
trainer.fit(model, loader)  # plumbline: if not checkpoints
