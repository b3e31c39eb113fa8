#pragma once
/// \file hub_model.h: a plan's network as scripts over Hugging Face's libraries name it, and what they leave out of it.
///
/// Model: from_pretrained takes a name of the hub, which the catalogue has among a network's aliases where its config
/// is that of a checkpoint. AutoModelForCausalLM makes networks that predict the next token alone. Checked against:
/// tests/unit/planner/frameworks/launch/hub_model_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "planner/frameworks/launch/launch_settings.h"

namespace plumbline {

/// "meta-llama/Llama-3.1-8B" of "llama-3.1-8b"; what has no such name as it is.
[[nodiscard]] std::string hub_name(const LaunchSettings& settings);
/// A sentence if the plan's network has no name on the hub; otherwise empty.
[[nodiscard]] std::string missing_hub_name(const LaunchSettings& settings);
/// A sentence if AutoModelForCausalLM cannot make the network; otherwise none.
[[nodiscard]] std::vector<std::string> unsaid_of_model(const LaunchSettings& settings);

/// The line of a script that makes the weights in the plan's format: a config of the hub has that of its checkpoint,
/// which the optimizer would keep. `model_config` and torch are there. Ends with a line break.
[[nodiscard]] std::string weight_format_line(const LaunchSettings& settings, std::string_view indent,
                                             std::string_view model_config);
/// What a script adds where the loss is fused with the head: an import, an argument that Trainer scripts have too, and
/// the lines behind those that make `model`. Liger's patch brings its norms, gates and rotations as well. Otherwise
/// empty.
[[nodiscard]] std::string liger_import(const LaunchSettings& settings);
/// The script's flag --load_weights, on by default where the plan has adapters.
[[nodiscard]] std::string load_argument(const LaunchSettings& settings);
/// Makes a model with random weights: one line of a script.
[[nodiscard]] std::string random_model();
/// Loads the published weights under --load_weights, and otherwise runs the lines `random`, which are indented.
[[nodiscard]] std::string made_model(std::string_view random);
/// Wraps the model in adapters with alpha = r, so that their product is not scaled, as in `plan run`; empty without
/// any.
[[nodiscard]] std::string adapter_line(const LaunchSettings& settings);
[[nodiscard]] std::string liger_argument(const LaunchSettings& settings);
[[nodiscard]] std::string liger_lines(const LaunchSettings& settings);
/// random_tokens(vocabulary, length) of a script: a data set whose tokens follow from the index alone, so that ranks
/// that share a batch read the same and others do not. `more`: further members of a sample, or empty.
[[nodiscard]] std::string random_tokens_function(std::string_view more);
/// A sentence if the adapters are not those of every linear layer, which scripts make; otherwise none.
[[nodiscard]] std::vector<std::string> unsaid_of_adapters(const LaunchSettings& settings);

/// Whether moments are in another format than the recipe's.
[[nodiscard]] bool changes_moments(const LaunchSettings& settings);
/// "gradients in fp32: no key of Accelerate says it; they are in the format of mixed_precision", where a framework
/// mixes precisions by torch.autocast and has no word for gradients; otherwise none. `word`: "key of Accelerate";
/// `precision`: what says the format of sharded ones.
[[nodiscard]] std::vector<std::string> unsaid_gradients(std::string_view word, std::string_view precision,
                                                        const LaunchSettings& settings);
/// "moments in bf16: no key of DeepSpeed says it; they are in fp32".
[[nodiscard]] std::string unsaid_moments(std::string_view framework, const LaunchSettings& settings);

}  // namespace plumbline
