# What ds_config.json needs of a training script. Put your data in the place of random_tokens.
import argparse
import json

import deepspeed
import torch
from transformers import AutoConfig, AutoModelForCausalLM


def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length,))
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
with deepspeed.zero.Init(config_dict_or_path=config):
    model = AutoModelForCausalLM.from_config(model_config, attn_implementation=args.attn_implementation)
if config["pipeline"]["activation_checkpoint_interval"] > 0:
    model.gradient_checkpointing_enable()
engine, _, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=[p for p in model.parameters() if p.requires_grad],
    config=config,
    training_data=random_tokens(model_config.vocab_size, args.max_seq_length),
)
for step, batch in zip(range(args.max_steps * config["gradient_accumulation_steps"]), loader):
    batch = {name: tensor.to(engine.device) for name, tensor in batch.items()}
    loss = engine(**batch).loss
    engine.backward(loss)
    engine.step()
