# A script for Lightning's Trainer. Put your data in the place of random_tokens.
import math

import lightning as L
import torch
from lightning.pytorch.strategies import FSDPStrategy
from transformers import AutoConfig, AutoModelForCausalLM

# The class of a layer of your model: what FSDP shards and recomputes as one.
from transformers.models.llama.modeling_llama import LlamaDecoderLayer as Block


def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length + 1,), generator=torch.Generator().manual_seed(index))
            return {"input_ids": tokens[:-1], "labels": tokens[:-1], "shift_labels": tokens[1:]}

    return Tokens()


def rate_factor(schedule, steps, warmup, final):
    """The share of the peak learning rate in each step: a straight warm-up, then the schedule, down to `final`."""

    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        done = (min(step, steps) - warmup) / max(1, steps - warmup)
        if schedule == "linear":
            return 1 + (final - 1) * done
        if schedule == "cosine":
            return final + (1 - final) * (1 + math.cos(math.pi * done)) / 2
        if schedule == "inverse-sqrt":
            return math.sqrt(max(1, warmup) / (step + 1))
        return 1.0

    return factor


class CausalLanguageModel(L.LightningModule):
    def __init__(
        self, name, sequence_length, attention, recompute, optimizer, lora_rank, learning_rate=1e-5, beta1=0.9,
        beta2=0.999, epsilon=1e-8, momentum=0.9, weight_decay=0.01, lr_schedule="constant", schedule_steps=None, warmup_steps=0,
        final_learning_rate=0.0, load_weights=False,
    ):
        super().__init__()
        self.save_hyperparameters()
        self.model_config = AutoConfig.from_pretrained(name)
        setattr(self.model_config, "dtype" if hasattr(self.model_config, "dtype") else "torch_dtype", torch.float32)  # not that of the checkpoint
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
        self.vectors = {n for n, p in self.named_parameters() if len(getattr(p, "ds_shape", p.shape)) < 2}

    def training_step(self, batch, index):
        loss = self.model(**batch).loss
        self.losses.append(loss.detach())
        return loss

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
        optimizer = torch.optim.AdamW(self.decayed(), lr=self.hparams.learning_rate, betas=(self.hparams.beta1, self.hparams.beta2), eps=self.hparams.epsilon, weight_decay=self.hparams.weight_decay)
        h = self.hparams
        factor = rate_factor(
            h.lr_schedule, h.schedule_steps or self.trainer.max_steps, h.warmup_steps, h.final_learning_rate / h.learning_rate
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


L.seed_everything(0)  # replicated parameters begin as the same on every rank
model = CausalLanguageModel(
    name="meta-llama/Meta-Llama-3-8B",
    sequence_length=4096,
    attention="sdpa",
    recompute=False,
    optimizer="adamw",
    lora_rank=0,
)
strategy = FSDPStrategy(
    sharding_strategy="FULL_SHARD",
    auto_wrap_policy={Block},
    activation_checkpointing_policy={Block},
    state_dict_type="sharded",
)
trainer = L.Trainer(
    accelerator="gpu",
    devices=8,
    num_nodes=1,
    strategy=strategy,
    precision="bf16-mixed",
    accumulate_grad_batches=8,
)
data = random_tokens(model.model_config.vocab_size, model.hparams.sequence_length)
loader = torch.utils.data.DataLoader(
    dataset=data,
    batch_size=1,
)
trainer.fit(model, loader)
