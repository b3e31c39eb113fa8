#pragma once
/// \file hub_model.h: a plan's network as scripts over Hugging Face's libraries name it, and what they leave out of it.
///
/// Model: from_pretrained takes a name of the hub, which the catalogue has among a network's aliases where its config
/// is that of a checkpoint. AutoModelForCausalLM makes networks that predict the next token alone. Checked against:
/// tests/unit/planner/frameworks/launch/hub_model_test.cpp.

#include <cstdint>
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

/// "bfloat16": in which a script makes the weights, so that they are in the plan's format. A config of the hub has that
/// of its checkpoint, which the optimizer would keep.
[[nodiscard]] std::string weight_format(const LaunchSettings& settings);
/// Whether the loss is fused with the head: Liger's patch does it, which brings its norms, gates and rotations as well.
[[nodiscard]] bool has_fused_loss(const LaunchSettings& settings);
[[nodiscard]] bool has_adapters(const LaunchSettings& settings);
/// "True" where a script loads the published weights by default: where the plan has adapters.
[[nodiscard]] std::string loads_weights(const LaunchSettings& settings);
/// What a sample of a script's data set holds beside its tokens.
enum class SampleOf : std::uint8_t { labels_alone, positions, positions_and_targets };
/// random_tokens(vocabulary, length) of a script: a data set.
[[nodiscard]] std::string random_tokens_function(SampleOf parts);
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
