// Lightning: a script with the strategy lines of a Trainer, and how it is started.
#include "core/base/errors.h"
#include "planner/frameworks/launch/hub_model.h"
#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/launchers.h"
#include "planner/frameworks/launch/script_parts.h"
#include "planner/frameworks/launch/torch_optimizers.h"
#include "planner/frameworks/launch/trainer_flags.h"
#include "planner/frameworks/lightning/script_keys.h"
#include "planner/frameworks/syntax/python_calls.h"
#include "planner/frameworks/syntax/quoting.h"

namespace plumbline {
namespace {

constexpr std::string_view script = R"(# A script for Lightning's Trainer. Put your data in the place of random_tokens.
import math

import lightning as L
import torch
$imports
# The class of a layer of your model: what FSDP shards and recomputes as one.
$block

$tokens

$rate

class CausalLanguageModel(L.LightningModule):
    def __init__(
        self, name, sequence_length, attention, recompute, optimizer, lora_rank, learning_rate=1e-5, beta1=0.9,
        beta2=0.999, epsilon=1e-8, momentum=0.9, weight_decay=$decay, lr_schedule="constant", schedule_steps=None, warmup_steps=0,
        final_learning_rate=0.0, load_weights=$load,
    ):
        super().__init__()
        self.save_hyperparameters()
        self.model_config = AutoConfig.from_pretrained(name)
$format        self.model = None
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
$configure        self.vectors = {n for n, p in self.named_parameters() if len(getattr(p, "ds_shape", p.shape)) < 2}

    def training_step(self, batch, index):
        loss = self.model(**batch).loss
        self.losses.append(loss.detach())
        return $loss

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
        optimizer = $optimizer
        h = self.hparams
        factor = rate_factor(
            h.lr_schedule, h.schedule_steps or self.trainer.max_steps, h.warmup_steps, h.final_learning_rate / h.learning_rate
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
$clip

L.$seed  # replicated parameters begin as the same on every rank
model = $model
strategy = $strategy
$checkpointstrainer = $trainer
data = random_tokens(model.model_config.vocab_size, model.hparams.sequence_length)
loader = torch.utils.data.$loader
trainer.fit(model, loader$last)
)";

/// FSDP clips the shards itself: Lightning's own clipping refuses it.
constexpr std::string_view sharded_clip = R"(
    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        if gradient_clip_val:
            self.trainer.strategy.model.clip_grad_norm_(gradient_clip_val)
)";

constexpr std::string_view tensor_parallel = R"(        parallelize_module(
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
)";

std::string indented(const std::string& text, std::size_t width) {
  std::string all;
  for (const char c : text) {
    all += c;
    if (c == '\n') all += std::string(width, ' ');
  }
  return all;
}

std::string optimizer_call(Optimizer optimizer) {
  return torch_optimizer(optimizer, "self.decayed()",
                         {.learning_rate = "self.hparams.learning_rate",
                          .beta1 = "self.hparams.beta1",
                          .beta2 = "self.hparams.beta2",
                          .epsilon = "self.hparams.epsilon",
                          .momentum = "self.hparams.momentum",
                          .weight_decay = "self.hparams.weight_decay"});
}

/// The constructor's own, where a plan says none (torch/optim/adamw.py).
std::string_view usual_weight_decay(Optimizer optimizer) { return optimizer == Optimizer::adamw ? "0.01" : "0.0"; }

std::string imports(const LaunchSettings& s, bool has_tensor_parallel) {
  std::string text;
  if (checkpoint_interval(s.recipe)) text += "from lightning.pytorch.callbacks import ModelCheckpoint\n";
  text += "from lightning.pytorch.strategies import " + std::string(lightning_strategy(s)) + "\n";
  text += package_import(s.optimizer);
  if (s.lora_rank.value_or(0) > 0) text += "from peft import LoraConfig, get_peft_model\n";
  if (has_tensor_parallel)
    text +=
        "from torch.distributed.fsdp import fully_shard\n"
        "from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module\n";
  return text + "from transformers import AutoConfig, AutoModelForCausalLM\n";
}

Json call_of(const Json& tree, std::string_view name) {
  const Json* const found = tree.find(name);
  return found == nullptr ? Json(Json::Object{}) : *found;
}

std::string configured(const LaunchSettings& s, const Json& tree) {
  std::string text;
  if (s.lora_rank.value_or(0) > 0)
    text +=
        "        self.model = get_peft_model(\n"
        "            self.model,\n            LoraConfig(r=self.hparams.lora_rank, lora_alpha=self.hparams.lora_rank, "
        "target_modules=\"all-linear\"),\n        )\n";
  if (s.tensor_parallel.value_or(1) == 1) return text;
  text += tensor_parallel;
  Json::Object shards = *call_of(tree, "fully_shard").if_object();
  if (shards.empty()) return text;
  shards.emplace_back("mesh", python_expression("self.device_mesh[\"data_parallel\"]"));
  const std::string call = indented(python_call("fully_shard", shards), 12);
  return text + "        for layer in self.model.model.layers:\n            " +
         filled(call, {{"fully_shard(", "fully_shard(\n                layer,"}}) +
         "\n        fully_shard(self.model, mesh=self.device_mesh[\"data_parallel\"])\n";
}

/// Without a name where nobody said it: an import reads arguments by their names.
std::string seed_call(const LaunchSettings& s) {
  if (!s.recipe.seed) return "seed_everything(0)";
  return "seed_everything(seed=" + std::to_string(*s.recipe.seed) + ")";
}

std::string training_script(const LaunchSettings& s, const Json& tree) {
  const bool has_tensor_parallel = s.tensor_parallel.value_or(1) > 1;
  const std::string strategy(lightning_strategy(s));
  const bool saves = checkpoint_interval(s.recipe).has_value();
  Json::Object loader{{"dataset", python_expression("data")}};
  const Json batch = call_of(tree, "DataLoader");
  for (const Json::Member& member : *batch.if_object()) loader.push_back(member);
  return filled(
      script,
      {{"$imports", imports(s, has_tensor_parallel)},
       {"$block", "from transformers.models.llama.modeling_llama import LlamaDecoderLayer as Block\n"},
       {"$tokens", random_tokens_function("")},
       {"$format", weight_format_line(s, "        ", "self.model_config")},
       {"$rate", rate_factor_function()},
       {"$decay", usual_weight_decay(s.optimizer.value_or(Optimizer::adamw))},
       {"$seed", seed_call(s)},
       {"$checkpoints",
        saves ? "checkpoints = " + python_call("ModelCheckpoint", call_of(tree, "ModelCheckpoint")) + "\n" : ""},
       // Found with Lightning 2.6.6 and DeepSpeed 0.19.8: ClosureResult and DeepSpeedEngine.backward.
       {"$loss", strategy == "DeepSpeedStrategy"
                     ? "loss * self.trainer.accumulate_grad_batches  # by which Lightning and DeepSpeed both divide it"
                     : "loss"},
       {"$load", s.lora_rank.value_or(0) > 0 ? "True" : "False"},
       {"$last", saves ? ", ckpt_path=\"last\"" : ""},
       {"$configure", configured(s, tree)},
       {"$optimizer", optimizer_call(s.optimizer.value_or(Optimizer::adamw))},
       {"$clip", strategy == "FSDPStrategy" && s.recipe.clip ? sharded_clip : ""},
       {"$model", python_call("CausalLanguageModel", call_of(tree, "CausalLanguageModel"))},
       {"$strategy", python_call(strategy, call_of(tree, strategy))},
       {"$trainer", python_call("L.Trainer", call_of(tree, "Trainer"))},
       {"$loader", python_call("DataLoader", loader)}});
}

std::vector<std::string> assumptions(const LaunchSettings& s) {
  std::vector<std::string> sentences{"layers of the class LlamaDecoderLayer: put that of your model in its place"};
  if (const std::string missing = missing_hub_name(s); !missing.empty()) sentences.push_back(missing);
  if (!s.recipe.learning_rate) sentences.emplace_back("a learning rate of 1e-5: the plan has none");
  if (s.optimizer == Optimizer::momentum && !s.recipe.momentum)
    sentences.emplace_back("a momentum of 0.9: the plan has none");
  if (const std::string package = package_sentence(s.optimizer); !package.empty()) sentences.push_back(package);
  if (s.precision == PrecisionRecipe::fp16 && s.tensor_parallel.value_or(1) > 1)
    sentences.emplace_back("a Lightning whose ModelParallelStrategy takes precision 16-mixed: 2.6.6 refuses it");
  return sentences;
}

std::vector<std::string> unsaid(const LaunchSettings& s) {
  std::vector<std::string> sentences = unsaid_of_model(s);
  for (std::string& sentence : unsaid_of_adapters(s)) sentences.push_back(std::move(sentence));
  for (std::string& sentence : unsaid_gradients("argument of Lightning", "precision", s))
    sentences.push_back(std::move(sentence));
  if (changes_moments(s)) sentences.push_back(unsaid_moments("Lightning", s));
  return sentences;
}

LaunchFiles write(const LaunchSettings& settings, std::string_view release) {
  LaunchFiles files;
  LaunchSettings named = settings;
  named.model = hub_name(settings);
  files.files.push_back({"train.py", training_script(settings, written_tree(lightning_keys(), release, named))});
  for (LaunchFile& file : launcher_files({"train.py", {}, settings.model}, settings))
    files.files.push_back(std::move(file));
  files.assumptions = assumptions(settings);
  files.unsaid = unsaid(settings);
  return files;
}

/// The class of the strategy says its stage where no argument does.
void take_strategy(const Json& calls, LaunchSettings& s) {
  if (calls.find("DDPStrategy") != nullptr && !s.zero_stage) s.zero_stage = 0;
  if (calls.find("ModelParallelStrategy") != nullptr && !s.zero_stage) s.zero_stage = 0;  // without fully_shard
  if (calls.find("FSDPStrategy") != nullptr && !s.zero_stage) s.zero_stage = 3;
  if (calls.find("DeepSpeedStrategy") != nullptr && !s.zero_stage) s.zero_stage = 2;
  if (calls.find("Trainer")->find("precision") == nullptr) s.precision = PrecisionRecipe::fp32;
  if (calls.find("Trainer")->find("num_nodes") == nullptr && s.devices_per_node) s.nodes = 1;
  take_autocast_gradients(s);
}

Imported read(std::string_view text, std::string_view name) {
  if (is_script_name(name)) return read_trainer_script(text, name);  // launch.sh, for its nodes
  const Json calls = read_python_calls(text, name, lightning_calls());
  if (calls.find("Trainer") == nullptr)
    throw InputError({std::string(name), "no call of Trainer", "a script with Trainer(...)", ""});
  Imported imported;
  imported.notes = read_tree(lightning_keys(), calls, name, imported.settings);
  take_strategy(calls, imported.settings);
  return imported;
}

}  // namespace

LaunchTarget lightning_target() {
  return {.framework = Framework::lightning,
          .title = "Lightning",
          .releases = {"2.6.6"},
          .revision = record_of(Framework::lightning).revision,
          .write = write,
          .read = read,
          .keys = lightning_keys};
}

}  // namespace plumbline
