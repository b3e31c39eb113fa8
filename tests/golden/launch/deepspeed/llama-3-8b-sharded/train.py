# What ds_config.json needs of a training script. Put your data in the place of random_tokens.
import argparse
import json

import deepspeed
import torch
import torch._dynamo  # not inside of zero.Init
from transformers import AutoConfig, AutoModelForCausalLM


def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length,), generator=torch.Generator().manual_seed(index))
            return {"input_ids": tokens, "labels": tokens, "position_ids": torch.arange(length)}

    return Tokens()


parser = argparse.ArgumentParser()
parser.add_argument("--deepspeed_config", default="ds_config.json")
parser.add_argument("--model_name_or_path", required=True)
parser.add_argument("--max_seq_length", type=int, required=True)
parser.add_argument("--attn_implementation", default="sdpa")
parser.add_argument("--lora_r", type=int, default=0)
parser.add_argument("--max_steps", type=int, default=20)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()
with open(args.deepspeed_config) as file:
    config = json.load(file)
torch.manual_seed(args.seed)
deepspeed.init_distributed()
model_config = AutoConfig.from_pretrained(args.model_name_or_path)
setattr(model_config, "dtype" if hasattr(model_config, "dtype") else "torch_dtype", torch.float32)  # not that of the checkpoint
with deepspeed.zero.Init(config_dict_or_path=config):
    model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)
if config["pipeline"]["activation_checkpoint_interval"] > 0:
    model.gradient_checkpointing_enable()
data = random_tokens(model_config.vocab_size, args.max_seq_length)
engine, _, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=[p for p in model.parameters() if p.requires_grad],
    config=config,
    training_data=data,
)
for step, batch in zip(range(args.max_steps * config["gradient_accumulation_steps"]), loader):
    batch = {name: tensor.to(engine.device) for name, tensor in batch.items()}
    loss = engine(**batch).loss
    engine.backward(loss)
    engine.step()
