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
#include "planner/frameworks/syntax/script_template.h"

namespace plumbline {
namespace {

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
std::string usual_weight_decay(Optimizer optimizer) {
  return optimizer == Optimizer::adamw || facts(optimizer).quantizes_states ? "0.01" : "0.0";
}

Json call_of(const Json& tree, std::string_view name) {
  const Json* const found = tree.find(name);
  return found == nullptr ? Json(Json::Object{}) : *found;
}

/// fully_shard(layer, ...) as keys have it, for each layer; empty where no data-parallel ranks shard.
std::string shard_call(const LaunchSettings& s, const Json& tree) {
  Json::Object shards = *call_of(tree, "fully_shard").if_object();
  if (s.tensor_parallel.value_or(1) == 1 || shards.empty()) return "";
  shards.emplace_back("mesh", python_expression("self.device_mesh[\"data_parallel\"]"));
  std::string call = python_call("fully_shard", shards);
  return call.insert(call.find('\n') + 1, "    layer,\n");
}

/// Without a name where nobody said it: an import reads arguments by their names.
std::string seed_argument(const LaunchSettings& s) {
  return s.recipe.seed ? "seed=" + std::to_string(*s.recipe.seed) : "0";
}

Json loader_arguments(const Json& tree) {
  Json::Object arguments{{"dataset", python_expression("data")}};
  const Json batch = call_of(tree, "DataLoader");
  for (const Json::Member& member : *batch.if_object()) arguments.push_back(member);
  return arguments;
}

std::string training_script(const LaunchSettings& s, const Json& tree) {
  const std::string strategy(lightning_strategy(s));
  const Optimizer optimizer = s.optimizer.value_or(Optimizer::adamw);
  const bool has_checkpoints = checkpoint_interval(s.recipe).has_value();
  const std::string shards = shard_call(s, tree);
  const auto assigned = [&tree](const std::string& name, std::string_view called, std::string_view function) {
    return name + " = " + python_call(function, call_of(tree, called));
  };
  return filled_script(
      script_template("lightning/templates/train"),
      {{"optimizer_import", package_import(s.optimizer)},
       {"random_tokens", random_tokens_function(SampleOf::labels_alone)},
       {"rate_factor", rate_factor_function()},
       {"PLUMBLINE_STRATEGY", strategy},
       {"PLUMBLINE_USUAL_DECAY", usual_weight_decay(optimizer)},
       {"PLUMBLINE_LOADS_WEIGHTS", loads_weights(s)},
       {"PLUMBLINE_FORMAT", weight_format(s)},
       {"PLUMBLINE_OPTIMIZER", optimizer_call(optimizer)},
       {"PLUMBLINE_SEED", seed_argument(s)},
       {"quantized_states", facts(optimizer).quantizes_states},
       {"adapters", has_adapters(s)},
       {"tensor_parallel", s.tensor_parallel.value_or(1) > 1},
       {"sharded_layers", !shards.empty()},
       {"shard_layer", shards},
       {"deepspeed", strategy == "DeepSpeedStrategy"},
       {"sharded_clip", strategy == "FSDPStrategy" && s.recipe.clip.has_value()},
       {"checkpoints", has_checkpoints},
       {"model_call", assigned("model", "CausalLanguageModel", "CausalLanguageModel")},
       {"strategy_call", assigned("strategy", strategy, strategy)},
       {"checkpoint_call", has_checkpoints ? assigned("checkpoints", "ModelCheckpoint", "ModelCheckpoint") : ""},
       {"trainer_call", assigned("trainer", "Trainer", "L.Trainer")},
       {"loader_call", "loader = " + python_call("torch.utils.data.DataLoader", loader_arguments(tree))}});
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
