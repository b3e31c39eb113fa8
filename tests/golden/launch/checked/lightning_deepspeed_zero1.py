# A script for Lightning's Trainer. Put your data in the place of random_tokens.
import lightning as L
import torch
from lightning.pytorch.strategies import DeepSpeedStrategy
from transformers import AutoConfig, AutoModelForCausalLM

# The class of a layer of your model: what FSDP shards and recomputes as one.
from transformers.models.llama.modeling_llama import LlamaDecoderLayer as Block


def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length,), generator=torch.Generator().manual_seed(index))
            return {"input_ids": tokens, "labels": tokens}

    return Tokens()


class CausalLanguageModel(L.LightningModule):
    def __init__(self, name, sequence_length, attention, recompute, optimizer, learning_rate, lora_rank):
        super().__init__()
        self.save_hyperparameters()
        self.model_config = AutoConfig.from_pretrained(name)
        setattr(self.model_config, "dtype" if hasattr(self.model_config, "dtype") else "torch_dtype", torch.float32)  # not that of the checkpoint
        self.model = None

    def configure_model(self):
        if self.model is not None:
            return
        self.model = AutoModelForCausalLM.from_config(
            self.model_config, attn_implementation=self.hparams.attention
        )
        if self.hparams.recompute:
            self.model.gradient_checkpointing_enable()

    def training_step(self, batch, index):
        return self.model(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.learning_rate)


L.seed_everything(0)  # replicated parameters begin as the same on every rank
model = CausalLanguageModel(
    name="meta-llama/Llama-3.1-8B",
    sequence_length=4096,
    attention="flash_attention_2",
    recompute=False,
    optimizer="adamw",
    learning_rate=3e-04,
    lora_rank=0,
)
strategy = DeepSpeedStrategy(
    stage=1,
)
trainer = L.Trainer(
    accelerator="gpu",
    devices=8,
    num_nodes=1,
    strategy=strategy,
    precision="bf16-mixed",
    accumulate_grad_batches=4,
    gradient_clip_val=1.0,
)
data = random_tokens(model.model_config.vocab_size, model.hparams.sequence_length)
loader = torch.utils.data.DataLoader(
    dataset=data,
    batch_size=2,
)
trainer.fit(model, loader)
