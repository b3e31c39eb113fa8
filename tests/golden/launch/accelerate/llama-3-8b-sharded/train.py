# A training script for accelerate.yaml. Put your data in the place of random_tokens.
import argparse

import torch
from accelerate import Accelerator
from transformers import AutoConfig, AutoModelForCausalLM


def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length,), generator=torch.Generator().manual_seed(index))
            return {"input_ids": tokens, "labels": tokens, "shift_labels": tokens.roll(-1)}

    return Tokens()


parser = argparse.ArgumentParser()
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
parser.add_argument("--lora_r", type=int, default=0)
parser.add_argument("--per_device_train_batch_size", type=int, required=True)
parser.add_argument("--gradient_accumulation_steps", type=int, default=1)
parser.add_argument("--gradient_checkpointing", action="store_true")
parser.add_argument("--optim", default="adamw_torch")
parser.add_argument("--learning_rate", type=float, default=1e-5)
parser.add_argument("--weight_decay", type=float, default=0.0)
parser.add_argument("--warmup_steps", type=int, default=0)
parser.add_argument("--max_grad_norm", type=float, default=0.0)
parser.add_argument("--max_steps", type=int, default=20)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

torch.manual_seed(args.seed)
accelerator = Accelerator(gradient_accumulation_steps=args.gradient_accumulation_steps)
model_config = AutoConfig.from_pretrained(args.model_name_or_path)
setattr(model_config, "dtype" if hasattr(model_config, "dtype") else "torch_dtype", torch.float32)  # not that of the checkpoint
model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)
if args.gradient_checkpointing:
    model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, weight_decay=args.weight_decay)
loader = torch.utils.data.DataLoader(
    random_tokens(model_config.vocab_size, args.max_seq_length), batch_size=args.per_device_train_batch_size
)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / max(1, args.warmup_steps)))
model, optimizer, loader, warmup = accelerator.prepare(model, optimizer, loader, warmup)
for step, batch in zip(range(args.max_steps * args.gradient_accumulation_steps), loader):
    with accelerator.accumulate(model):
        accelerator.backward(model(**batch).loss)
        if args.max_grad_norm > 0 and accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), args.max_grad_norm)
        optimizer.step()
        warmup.step()
        optimizer.zero_grad()
