#include "planner/frameworks/launch/hub_model.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "core/training/adaptation_text.h"
#include "models/network_catalog.h"
#include "planner/frameworks/syntax/script_template.h"

namespace plumbline {
namespace {

/// Sources of the catalogue whose networks are checkpoints of the hub.
constexpr std::string_view of_hub = "Hugging Face Hub";

std::string alias_on_hub(const std::string& model) {
  try {
    const Network network = find_network(model);
    if (network.source.find(of_hub) == std::string::npos) return "";
    for (const std::string& alias : network.aliases)
      if (alias.find('/') != std::string::npos) return alias;
  } catch (const InputError&) {
    return "";  // a file, or no name of the catalogue
  }
  return "";
}

/// model_types that AutoModelForCausalLM does not have, or that it would make for another task.
constexpr std::array<std::string_view, 7> other_tasks{"bert", "roberta", "t5", "mt5", "vit", "resnet", "unet"};

bool is_hub_name(const std::string& model) {
  return std::count(model.begin(), model.end(), '/') == 1 && !model.ends_with(".json") && !model.ends_with(".onnx") &&
         model.front() != '/' && model.front() != '.';
}

std::string model_type(const LaunchSettings& s) {
  if (const Json* const type = s.network_config.is_null() ? nullptr : s.network_config.find("model_type"))
    if (type->if_string() != nullptr) return *type->if_string();
  try {
    return s.model.empty() ? "" : find_network(s.model).model_type;
  } catch (const InputError&) {
    return "";
  }
}

}  // namespace

std::string hub_name(const LaunchSettings& s) {
  if (s.model.empty() || is_hub_name(s.model)) return s.model;
  const std::string alias = alias_on_hub(s.model);
  return alias.empty() ? s.model : alias;
}

std::string missing_hub_name(const LaunchSettings& s) {
  if (s.model.empty()) return "train.py needs the name of a model: the plan names none of a hub";
  const std::string name = hub_name(s);
  if (is_hub_name(name)) return "";
  return "'" + name + "' is no name of the Hugging Face Hub: put one, or a folder with its config.json, in its place";
}

std::vector<std::string> unsaid_of_model(const LaunchSettings& s) {
  const std::string type = model_type(s);
  if (s.model.ends_with(".onnx"))
    return {"the network: train.py makes one of AutoModelForCausalLM, and the plan's is an ONNX graph"};
  if (std::find(other_tasks.begin(), other_tasks.end(), type) == other_tasks.end()) return {};
  return {"the network: train.py makes one of AutoModelForCausalLM, which has no model_type '" + type +
          "' that trains as the plan's"};
}

std::string weight_format(const LaunchSettings& s) {
  const PrecisionRecipe recipe = s.precision.value_or(PrecisionRecipe::fp32);
  if (recipe == PrecisionRecipe::bf16_pure) return "bfloat16";
  return recipe == PrecisionRecipe::fp16_pure ? "float16" : "float32";
}

bool has_fused_loss(const LaunchSettings& s) { return s.choices.loss == "fused_linear"; }

bool has_adapters(const LaunchSettings& s) { return s.lora_rank.value_or(0) > 0; }

std::string loads_weights(const LaunchSettings& s) { return has_adapters(s) ? "True" : "False"; }

std::string random_tokens_function(SampleOf parts) {
  return filled_script(script_template("launch/templates/random_tokens"),
                       {{"labels_alone", parts == SampleOf::labels_alone},
                        {"positions", parts == SampleOf::positions},
                        {"positions_and_targets", parts == SampleOf::positions_and_targets}});
}

std::vector<std::string> unsaid_of_adapters(const LaunchSettings& s) {
  const LoraTargets targets = s.lora_targets.value_or(LoraTargets::every_linear);
  if (!has_adapters(s) || targets == LoraTargets::every_linear) return {};
  return {"adapters of " + std::string(to_text(targets)) + " alone: train.py gives every linear layer some"};
}

bool changes_moments(const LaunchSettings& s) {
  return s.optimizer_format && s.precision && *s.optimizer_format != precision_formats(*s.precision).optimizer_state;
}

std::vector<std::string> unsaid_gradients(std::string_view word, std::string_view precision, const LaunchSettings& s) {
  if (!s.gradient_format || !s.precision) return {};
  const bool is_wide = has_autocast_gradients(s);
  if (*s.gradient_format == (is_wide ? NumberFormat::fp32 : precision_formats(*s.precision).gradient)) return {};
  return {"gradients in " + std::string(to_text(*s.gradient_format)) + ": no " + std::string(word) +
          " says it; they are in " + (is_wide ? "fp32, as parameters are" : "the format of " + std::string(precision))};
}

std::string unsaid_moments(std::string_view framework, const LaunchSettings& s) {
  return "moments in " + std::string(to_text(*s.optimizer_format)) + ": no key of " + std::string(framework) +
         " says it; they are in " + std::string(to_text(precision_formats(*s.precision).optimizer_state));
}

}  // namespace plumbline
