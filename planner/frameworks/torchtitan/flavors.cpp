#include "planner/frameworks/torchtitan/flavors.h"

#include <array>

#include "models/network_catalog.h"

namespace plumbline::torchtitan {
namespace {

// Of one flavor the first is what a file means that names no folder.
constexpr std::array flavors{
    Flavor{"llama-3.1-8b", "Llama-3.1-8B", "llama3", "8B", "llama3_8b", "8B"},
    Flavor{"llama-3-8b", "Meta-Llama-3-8B", "llama3", "8B", "llama3_8b", "8B"},
    Flavor{"llama-3.1-70b", "Llama-3.1-70B", "llama3", "70B", "llama3_70b", "70B"},
    Flavor{"llama-3-70b", "Meta-Llama-3-70B", "llama3", "70B", "llama3_70b", "70B"},
    Flavor{"llama-3.3-70b", "Llama-3.3-70B-Instruct", "llama3", "70B", "llama3_70b", "70B"},
    Flavor{"llama-3.1-405b", "Llama-3.1-405B", "llama3", "405B", "llama3_405b", "405B"},
    Flavor{"qwen3-0.6b", "Qwen3-0.6B", "qwen3", "0.6B", "qwen3_14b", "14B"},
    Flavor{"qwen3-1.7b", "Qwen3-1.7B", "qwen3", "1.7B", "qwen3_14b", "14B"},
    Flavor{"qwen3-4b", "Qwen3-4B", "qwen3", "4B", "qwen3_14b", "14B"},
    Flavor{"qwen3-8b", "Qwen3-8B", "qwen3", "8B", "qwen3_14b", "14B"},
    Flavor{"qwen3-14b", "Qwen3-14B", "qwen3", "14B", "qwen3_14b", "14B"},
    Flavor{"qwen3-32b", "Qwen3-32B", "qwen3", "32B", "qwen3_14b", "14B"},
    Flavor{"qwen3-30b-a3b", "Qwen3-30B-A3B", "qwen3", "30B-A3B", "qwen3_14b", "14B"},
    Flavor{"qwen3-235b-a22b", "Qwen3-235B-A22B", "qwen3", "235B-A22B", "qwen3_14b", "14B"},
    Flavor{"deepseek-v2-lite", "DeepSeek-V2-Lite", "deepseek_v3", "16B", "deepseek_v3_16b", "16B"},
    Flavor{"deepseek-v2", "DeepSeek-V2", "deepseek_v3", "236B", "deepseek_v3_16b", "16B"},
    Flavor{"deepseek-v3", "DeepSeek-V3.1-Base", "deepseek_v3", "671B", "deepseek_v3_671b", "671B"},
    Flavor{"gpt-oss-20b", "gpt-oss-20b", "gpt_oss", "20b", "gpt_oss_120b", "120b"},
    Flavor{"gpt-oss-120b", "gpt-oss-120b", "gpt_oss", "120b", "gpt_oss_120b", "120b"},
    Flavor{"llama-4-scout", "Llama-4-Scout-17B-16E", "llama4", "17bx16e", "llama4_17bx128e", "17bx128e"},
    Flavor{"llama-4-maverick", "Llama-4-Maverick-17B-128E", "llama4", "17bx128e", "llama4_17bx128e", "17bx128e"}};

std::string_view without_variant(std::string_view flavor) { return flavor.substr(0, flavor.find('_')); }

/// Read once: every file of the catalogue holds its own aliases.
std::string_view catalogue_name(std::string_view network) {
  static const auto aliases = network_aliases();
  for (const auto& [alias, name] : aliases)
    if (alias == network) return name;
  return network;
}

const Flavor* flavor_by_name(std::string_view network) {
  for (const Flavor& one : flavors)
    if (one.network == network || one.checkpoint == network) return &one;
  return nullptr;
}

}  // namespace

const Flavor* flavor_of(std::string_view network) {
  const Flavor* const by_name = flavor_by_name(network);
  return by_name != nullptr ? by_name : flavor_by_name(catalogue_name(network));
}

const Flavor* flavor_named(std::string_view model, std::string_view flavor, std::string_view folder) {
  const Flavor* first = nullptr;
  for (const Flavor& one : flavors) {
    if (one.model != model || one.flavor != without_variant(flavor)) continue;
    if (folder.find(one.checkpoint) != std::string_view::npos) return &one;
    if (first == nullptr) first = &one;
  }
  return first;
}

const Flavor* flavor_of_recipe(std::string_view recipe) {
  for (const Flavor& one : flavors)
    if (one.recipe == recipe && one.flavor == one.recipe_flavor) return &one;
  return nullptr;
}

bool has_pipelines(std::string_view model) { return model != "qwen3" && model != "gpt_oss"; }

}  // namespace plumbline::torchtitan
