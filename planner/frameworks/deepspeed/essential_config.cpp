// What of a ds_config.json says more than DeepSpeed's defaults.
#include "planner/frameworks/deepspeed/config_keys.h"
#include "planner/frameworks/launch/usual_values.h"

namespace plumbline {
namespace {

/// Defaults of keys that change memory or time where they differ (zero/config.py, activation_checkpointing/config.py).
const std::vector<UsualValue>& usual_values() {
  static const std::vector<UsualValue> values{
      {"zero_optimization.reduce_bucket_size", 5e8},
      {"zero_optimization.allgather_bucket_size", 5e8},
      {"zero_optimization.stage3_prefetch_bucket_size", 5e7},
      {"zero_optimization.stage3_param_persistence_threshold", 1e5},
      {"zero_optimization.stage3_model_persistence_threshold", 9223372036854775807.0},
      {"zero_optimization.stage3_max_live_parameters", 1e9},
      {"zero_optimization.stage3_max_reuse_distance", 1e9},
      {"zero_optimization.reduce_scatter", 1},
      {"zero_optimization.zero_hpz_partition_size", 1},
      {"zero_optimization.zero_quantized_weights", 0},
      {"zero_optimization.zero_quantized_nontrainable_weights", 0},
      {"zero_optimization.zero_quantized_gradients", 0},
      {"zero_optimization.mics_shard_size", -1},
      {"zero_optimization.mics_hierarchical_params_gather", 0},
      {"zero_optimization.cpu_offload", 0},
      {"zero_optimization.cpu_offload_param", 0},
      {"zero_optimization.cpu_offload_params", 0},
      {"fp16.fp16_master_weights_and_grads", 0},
      {"tensor_parallel.tp_overlap_comm", 0},
      {"activation_checkpointing.partition_activations", 0},
      {"activation_checkpointing.cpu_checkpointing", 0},
      {"activation_checkpointing.contiguous_memory_optimization", 0},
      {"sparse_gradients", 0}};
  return values;
}

bool says(const Json& section, std::string_view key, const Json& value) {
  const Json* const found = section.find(key);
  return found != nullptr && to_json_text(*found, -1) == to_json_text(value, -1);
}

/// Gradients are sent in the format that they are kept in: no more than the precision says.
bool is_kept_format(const Json& tree, const Json& format) {
  const std::string* const name = format.if_string();
  if (name == nullptr) return false;
  if (const Json* const types = tree.find("data_types"))
    if (const Json* const kept = types->find("grad_accum_dtype"); kept != nullptr && kept->if_string() != nullptr)
      return *kept->if_string() == *name;
  const Json* const section = tree.find(*name);
  return section != nullptr && says(*section, "enabled", Json(true));
}

Json with_present_spelling(const Json& tree) {
  const Json::Object* const object = tree.if_object();
  if (object == nullptr) return tree;
  Json::Object present;
  for (const auto& [key, value] : *object) {
    const bool is_old_stage = key == "zero_optimization" && value.if_bool() != nullptr;
    const bool is_old_bf16 = key == "bfloat16" && tree.find("bf16") == nullptr;
    if (is_old_stage)
      present.emplace_back(key, Json::Object{{"stage", *value.if_bool() ? 1 : 0}});
    else
      present.emplace_back(is_old_bf16 ? "bf16" : key, value);
  }
  return present;
}

}  // namespace

Json essential_config(const Json& tree, std::int64_t& usual) {
  const Json present = with_present_spelling(tree);
  const Json essential = without_usual_values(present, usual_values(), {"bf16", "fp16"}, usual);
  const Json* const format = essential.find("communication_data_type");
  if (format == nullptr || !is_kept_format(present, *format)) return essential;
  Json::Object kept;
  for (const auto& [key, value] : *essential.if_object())
    if (key != "communication_data_type") kept.emplace_back(key, value);
  return kept;
}

}  // namespace plumbline
