#include "planner/frameworks/megatron/releases.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/errors.h"
#include "planner/frameworks/launch/launch_key.h"

namespace plumbline::megatron {
namespace {

constexpr std::string_view main_branch = "main";

/// A flag that some release lacks. `value`: only with it; empty: with any.
struct NewFlag {
  std::string_view flag;
  std::string_view value;
  std::string_view since;
};
constexpr std::array new_flags{
    NewFlag{"--account-for-embedding-in-pipeline-split", "", "core_v0.11.0"},  // TransformerConfig
    NewFlag{"--account-for-loss-in-pipeline-split", "", "core_v0.11.0"},
    NewFlag{"--use-precision-aware-optimizer", "", "core_v0.11.0"},  // OptimizerConfig
    NewFlag{"--attention-backend", "", "core_v0.11.0"},              // TransformerConfig
    NewFlag{"--moe-router-score-function", "", "core_v0.11.0"},      // TransformerConfig
    NewFlag{"--moe-router-enable-expert-bias", "", "core_v0.11.0"},
    NewFlag{"--moe-router-topk-scaling-factor", "", "core_v0.11.0"},
    NewFlag{"--moe-router-num-groups", "", "core_v0.11.0"},
    NewFlag{"--exp-avg-dtype", "", "core_v0.11.0"},
    NewFlag{"--exp-avg-sq-dtype", "", "core_v0.11.0"},
    NewFlag{"--cross-entropy-fusion-impl", "", "core_v0.12.0"},        // ModelParallelConfig
    NewFlag{"--grad-reduce-in-bf16", "", "core_v0.12.0"},              // megatron/training/arguments.py
    NewFlag{"--recompute-modules", "", "core_v0.12.0"},                // TransformerConfig
    NewFlag{"--fp8-recipe", "", "core_v0.12.0"},                       // TransformerConfig
    NewFlag{"--mtp-num-layers", "", "core_v0.12.0"},                   // TransformerConfig
    NewFlag{"--data-parallel-sharding-strategy", "", "core_v0.12.0"},  // DistributedDataParallelConfig
    NewFlag{"--use-megatron-fsdp", "", "core_v0.12.0"},                // there as --use-custom-fsdp
    NewFlag{"--pipeline-model-parallel-layout", "", "core_v0.13.0"},   // TransformerConfig
    NewFlag{"--fp4-format", "", "core_v0.15.0"},                       // TransformerConfig
    NewFlag{"--fp4-recipe", "", "core_v0.15.0"},
    NewFlag{"--optimizer", "muon", "core_v0.16.1"},              // megatron/core/optimizer/muon.py
    NewFlag{"--rope-scaling-factor", "", "core_v0.11.0"},        // megatron/training/arguments.py; before: 8 alone
    NewFlag{"--cpu-offloading-num-layers", "", "core_v0.16.0"},  // made of ModelParallelConfig from there on
    NewFlag{"--optimizer", "lion", "core_v0.17.0"},              // megatron/core/optimizer/__init__.py
    NewFlag{"--te-rng-tracker", "", "core_v0.11.0"},             // megatron/training/arguments.py
    NewFlag{"--cuda-graph-impl", "", "core_v0.11.0"},            // there as --enable-cuda-graph
    NewFlag{"--cuda-graph-impl", "full_iteration", "core_v0.14.0"},
    NewFlag{"--cuda-graph-modules", "", "core_v0.16.1"}};  // there as --cuda-graph-scope

/// A value that releases from one on refuse. The parser has it still.
struct RefusedValue {
  std::string_view flag;
  std::string_view value;
  std::string_view from;
  std::string_view last;  ///< before it
  std::string_view reason;
  std::string_view instead;
};
/// The assertion came with core_v0.18.2, between two releases that are written for.
constexpr std::array refused_values{RefusedValue{
    "--cross-entropy-fusion-impl", "te", "core_v0.19.0", "core_v0.18.0",
    "Transformer Engine's fused cross-entropy is disabled for its stability (megatron/training/arguments.py asserts)",
    "--loss vocab_parallel_jit"}};

/// Before, graphs of an iteration were a scope of the local implementation, and modules were called scopes.
constexpr std::string_view first_graph_modules = "core_v0.18.0";
/// Before, each implementation had a switch; before 0.12 there was the local one alone.
constexpr std::string_view first_graph_implementation = "core_v0.15.0";
constexpr std::string_view first_external_graphs = "core_v0.12.0";
/// Megatron-FSDP was called custom until 0.13.
constexpr std::string_view first_megatron_fsdp = "core_v0.14.0";
/// The package does not show --num-virtual-stages-per-pipeline-rank; every release has the flag of layers.
constexpr std::string_view virtual_stages_flag = "--num-virtual-stages-per-pipeline-rank";

/// Before, NullTokenizer had one token more than --vocab-size says (megatron/core/tokenizers/text/libraries).
constexpr std::string_view first_exact_vocabulary = "core_v0.18.0";
/// Before, latent attention refuses the fusion that is on where nothing is said (transformer_config.py).
constexpr std::string_view first_fused_latent_attention = "core_v0.13.0";
/// Without --rope-scaling-factor the scale is this one.
constexpr double first_rope_scale = 8;

bool has(std::string_view since, std::string_view release) { return has_release({.since = since}, release); }

bool is_value(const Json& value, std::string_view text) {
  const std::string* const word = value.if_string();
  return text.empty() || (word != nullptr && *word == text);
}

void require_flags(std::string_view release, const Json::Object& arguments) {
  for (const auto& [flag, value] : arguments)
    for (const NewFlag& one : new_flags)
      if (one.flag == flag && is_value(value, one.value) && !has(one.since, release))
        throw InputError({"--release",
                          std::string(release) + " has no " + flag +
                              (one.value.empty() ? "" : " " + std::string(one.value)) + ", which the plan needs",
                          "--release " + std::string(one.since) + " or a later one, or another plan", ""});
}

void refuse_values(std::string_view release, const Json::Object& arguments) {
  for (const auto& [flag, value] : arguments)
    for (const RefusedValue& one : refused_values)
      if (one.flag == flag && is_value(value, one.value) && has(one.from, release))
        throw InputError(
            {"--release",
             std::string(release) + " refuses " + flag + " " + std::string(one.value) + ": " + std::string(one.reason),
             std::string(one.instead) + ", or --release " + std::string(one.last) + " or an earlier one", ""});
}

std::int64_t number_at(const Json::Object& arguments, std::string_view flag) {
  const auto found =
      std::find_if(arguments.begin(), arguments.end(), [&](const auto& one) { return one.first == flag; });
  const std::int64_t* const number = found == arguments.end() ? nullptr : found->second.if_integer();
  return number == nullptr ? 1 : *number;
}

/// Layers of a virtual stage in place of the number of virtual stages, which divides them.
void name_layers_of_virtual_stages(std::string_view release, Json::Object& arguments) {
  const std::int64_t stages = number_at(arguments, virtual_stages_flag);
  const std::int64_t chunks = stages * number_at(arguments, "--pipeline-model-parallel-size");
  const std::int64_t layers = number_at(arguments, "--num-layers");
  for (auto& [flag, value] : arguments) {
    if (flag != virtual_stages_flag) continue;
    if (layers % chunks != 0)
      throw InputError({"--release",
                        std::string(release) + " is given the layers of a virtual stage, and " +
                            std::to_string(layers) + " do not divide over " + std::to_string(chunks),
                        "--release core_v0.13.0 or a later one, or another plan", ""});
    flag = "--num-layers-per-virtual-pipeline-stage";
    value = Json(layers / chunks);
  }
}

std::string graph_switch(std::string_view release, const Json& implementation) {
  const bool is_local = is_value(implementation, "local") || !has(first_external_graphs, release);
  return is_local ? "--enable-cuda-graph" : "--external-cuda-graph";
}

void drop_no_graphs(Json::Object& arguments) {
  std::erase_if(arguments, [](const Json::Member& one) {
    return one.first == "--cuda-graph-impl" && is_value(one.second, "none");
  });
}

void name_graph_scopes(std::string_view release, Json::Object& arguments) {
  bool is_iteration = false;
  for (auto& [flag, value] : arguments) {
    if (flag == "--cuda-graph-modules") flag = "--cuda-graph-scope";
    if (flag != "--cuda-graph-impl" || !is_value(value, "full_iteration")) continue;
    value = Json("local");
    is_iteration = true;
  }
  if (is_iteration) arguments.emplace_back("--cuda-graph-scope", "full_iteration");
  if (has(first_graph_implementation, release)) return;
  drop_no_graphs(arguments);
  for (auto& [flag, value] : arguments) {
    if (flag != "--cuda-graph-impl") continue;
    flag = graph_switch(release, value);
    value = Json(true);
  }
}

void drop_usual_rope_scale(Json::Object& arguments) {
  std::erase_if(arguments, [](const Json::Member& one) {
    return one.first == "--rope-scaling-factor" && one.second.if_double() != nullptr &&
           *one.second.if_double() == first_rope_scale;
  });
}

void count_without_end_of_document(Json::Object& arguments) {
  for (auto& [flag, value] : arguments)
    if (flag == "--vocab-size" && value.if_integer() != nullptr) value = Json(*value.if_integer() - 1);
}

}  // namespace

const std::vector<std::string_view>& releases() {
  static const std::vector<std::string_view> all{"core_v0.10.0", "core_v0.11.0", "core_v0.12.0", "core_v0.13.0",
                                                 "core_v0.14.0", "core_v0.15.0", "core_v0.16.1", "core_v0.17.0",
                                                 "core_v0.18.0", "core_v0.19.0", main_branch};
  return all;
}

Json::Object arguments_for(std::string_view release, Json::Object arguments) {
  refuse_values(release, arguments);
  if (release == main_branch) return arguments;
  if (!has("core_v0.11.0", release)) {
    drop_usual_rope_scale(arguments);
    drop_no_graphs(arguments);
  }
  require_flags(release, arguments);
  if (!has(first_exact_vocabulary, release)) count_without_end_of_document(arguments);
  if (!has(first_fused_latent_attention, release) && Json(arguments).find("--multi-latent-attention") != nullptr)
    arguments.emplace_back("--no-rope-fusion", true);
  if (!has("core_v0.13.0", release)) name_layers_of_virtual_stages(release, arguments);
  if (!has(first_graph_modules, release)) name_graph_scopes(release, arguments);
  if (!has(first_megatron_fsdp, release))
    for (auto& member : arguments)
      if (member.first == "--use-megatron-fsdp") member.first = "--use-custom-fsdp";
  return arguments;
}

}  // namespace plumbline::megatron
