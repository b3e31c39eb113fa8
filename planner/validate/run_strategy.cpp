#include "planner/validate/run_strategy.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>

#include "core/base/errors.h"
#include "core/base/joined.h"
#include "core/training/adaptation_text.h"
#include "core/training/limits.h"
#include "models/machine_catalog.h"
#include "models/name_or_path.h"
#include "planner/validate/stage_layout.h"
#include "planner/validate/stated_network.h"

namespace plumbline {
namespace {

std::int64_t required(const RunFields& fields, const char* key) {
  const auto number = fields.number(key);
  if (!number) throw InputError({key, "is not published", "", ""});
  return *number;
}

std::int32_t degree(const RunFields& fields, const char* key) {
  return static_cast<std::int32_t>(fields.number(key).value_or(1));
}

/// A field whose text an enum understands, of these names.
template <class Read>
auto choice(const RunFields& fields, const char* key, Read read, const std::vector<std::string>& names) {
  const std::string text = fields.word(key);
  const auto value = read(text);
  if (!value)
    throw InputError({key, text.empty() ? "is not published" : "\"" + text + "\" is not modelled",
                      "one of " + joined(names, ", "), nearest_text(text, names)});
  return *value;
}

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto& value : values) {
    if constexpr (requires { value.name; })
      names.emplace_back(value.name);
    else
      names.emplace_back(to_text(value));
  }
  return names;
}

/// The text that the aliases made of a published one, else the published one itself.
RunFields understood(const RunFields& fields, const char* key) {
  RunFields result;
  const std::string alias = fields.word(std::string(key) + "_as");
  result.words[key] = alias.empty() ? fields.word(key) : alias;
  return result;
}

/// In words of this program, or as NeMo names modules (nemo, collections/llm/peft/lora.py: target_modules).
std::optional<LoraTargets> lora_targets(std::string_view text) {
  if (text == "linear_qkv") return LoraTargets::queries_keys_values;
  if (text == "linear_qkv,linear_proj" || text == "linear_proj,linear_qkv") return LoraTargets::attention;
  return lora_targets_from_text(text);
}

bool is_on(const RunFields& fields, const char* key) {
  const std::string text = fields.word(key);
  if (text == "true" || text == "on") return true;
  if (text.empty() || text == "false" || text == "off" || text == "none") return false;
  throw InputError({key, "\"" + text + "\" is neither on nor off", "true or false", ""});
}

/// "full on K of N layers", as Megatron's block recompute of K layers is reported: K; nothing where it says anything
/// else.
std::optional<std::int64_t> fully_recomputed_layers(std::string_view text, std::int64_t layers) {
  constexpr std::string_view before = "full on ";
  const std::string after = " of " + std::to_string(layers) + " layers";
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  text.remove_prefix(before.size());
  text.remove_suffix(after.size());
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count < 1 || count > layers) return std::nullopt;
  return count;
}

/// Of layers in a number, the first of every pipeline chunk alike.
Recompute recompute_of(const RunFields& fields, const Strategy& strategy, const Graph& graph) {
  const auto read = [&](std::string_view text) -> std::optional<Recompute> {
    const std::int64_t chunks = std::int64_t{strategy.pipeline_stages} * strategy.virtual_stages;
    const auto layers = fully_recomputed_layers(text, graph.layer_count());
    if (!layers) return recompute_from_text(text);
    if (*layers % chunks != 0) return std::nullopt;
    return Recompute{RecomputeMode::block, static_cast<std::int32_t>(*layers / chunks)};
  };
  std::vector<std::string> names;
  for (const RecomputeName& name : recompute_names) names.emplace_back(name.text);
  names.push_back("full on K of " + std::to_string(graph.layer_count()) + " layers");
  return choice(fields, "recompute", read, names);
}

/// As published, or what the framework makes of it in such a layout.
std::int32_t zero_stage(const RunFields& fields) {
  const std::string alias = fields.word("zero_stage_as");
  if (alias.size() == 1 && alias.front() >= '0' && alias.front() <= '3') return alias.front() - '0';
  return static_cast<std::int32_t>(required(fields, "zero_stage"));
}

std::int32_t virtual_stages(const RunFields& fields, const Graph& graph) {
  if (degree(fields, "pp") == 1) return 1;
  if (fields.word("vpp") == "layers_per_stage")
    return static_cast<std::int32_t>(std::max<std::int64_t>(1, graph.layer_count() / degree(fields, "pp")));
  return degree(fields, "vpp");
}

std::int32_t expert_degree(const RunFields& fields) {
  return degree(fields, fields.word("ep") == "fsdp_group" ? "fsdp_group" : "ep");
}

/// The product of numbers up to 10^9, or nothing where it is more than `most`.
std::optional<std::int64_t> product(std::initializer_list<std::int64_t> factors, std::int64_t most) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors)
    if ((result *= factor) > most) return std::nullopt;
  return result;
}

}  // namespace

RunFields with_algebra(RunFields fields) {
  const auto number = [&](const char* key) { return fields.number(key); };
  const auto derive = [&](const char* key, std::optional<std::int64_t> value) {
    if (value) fields.numbers[key] = *value;
  };
  const auto model_ranks = product({degree(fields, "tp"), degree(fields, "pp"), degree(fields, "cp")}, most_devices);
  if (!model_ranks) return fields;
  if (!number("gpus") && number("dp")) derive("gpus", product({*model_ranks, *number("dp")}, most_devices));
  if (!number("gpus") && number("nodes") && number("gpus_per_node"))
    derive("gpus", product({*number("nodes"), *number("gpus_per_node")}, most_devices));
  if (!number("gpus") || *number("gpus") % *model_ranks != 0) return fields;
  const std::int64_t data = *number("gpus") / *model_ranks;
  const auto batch = number("global_batch");
  const auto micro = number("micro_batch");
  const auto accumulated = number("grad_accum");
  if (!batch && micro && accumulated)
    derive("global_batch", product({*micro, *accumulated, data}, largest_global_batch));
  if (batch && !micro && accumulated && *batch % (data * *accumulated) == 0)
    fields.numbers["micro_batch"] = *batch / (data * *accumulated);
  return fields;
}

namespace {

/// The machine, or that of the catalogue with the same device whose nodes hold as many as the run says.
Cluster with_nodes_of(std::int64_t per_node, Cluster cluster) {
  const Node& node = cluster.groups.front().node;
  if (per_node <= node.devices) return cluster;
  for (const std::string& name : machine_names()) {
    Cluster other = find_machine(name);
    if (other.groups.front().node.device == node.device && other.groups.front().node.devices == per_node) return other;
  }
  throw InputError(
      {"gpus_per_node",
       "is " + std::to_string(per_node) + ", and a node of " + cluster.name + " has " + std::to_string(node.devices),
       "a machine with such nodes (plan machines, or a file), named by the key machine", ""});
}

}  // namespace

Cluster cluster_of(const RunFields& fields) {
  const std::string machine = fields.word("machine");
  if (machine.empty())
    throw InputError({"hardware", "\"" + fields.word("hardware") + "\" is no machine of the catalogue", "", ""});
  const std::int64_t devices = required(fields, "gpus");
  const std::int64_t per_node = fields.number("gpus_per_node").value_or(0);
  Cluster cluster = with_nodes_of(devices > 1 ? std::min(per_node, devices) : 0,
                                  found_unquoted("machine", machine, "machine", "plan machines", find_machine));
  Node& node = cluster.groups.front().node;
  // Nodes that use a part of their devices, or servers with fewer of them.
  if (per_node > 0 && per_node < node.devices && devices > per_node) node.devices = static_cast<std::int32_t>(per_node);
  const std::string network = fields.word("network");
  if (const auto stated = stated_network(network))
    node = with_stated_network(std::move(node), *stated, network);
  else if (node.network && fields.word("system").empty())  // a named system has the network that it is sold with
    node.network->origin = NetworkOrigin::catalogue_for_run;
  return with_device_count(cluster, devices);
}

Training training_of(const RunFields& fields, SampleUnit unit) {
  Training training;
  if (unit == SampleUnit::image)
    training.sequence_length = fields.number("seq_len").value_or(0);  // the network's own
  else
    training.sequence_length = required(fields, "seq_len");
  training.global_batch = required(fields, "global_batch");
  training.precision =
      choice(understood(fields, "precision"), "precision", precision_recipe_from_text, names_of(all_precision_recipes));
  training.optimizer =
      choice(understood(fields, "optimizer"), "optimizer", optimizer_from_text, names_of(optimizer_table));
  if (const std::string format = fields.word("gradient_format"); !format.empty())
    training.gradient_format = choice(fields, "gradient_format", number_format_from_text, names_of(all_number_formats));
  else
    training.gradient_format = training.formats().gradient;  // what runs say of it is in rules, not in stacks
  if (const std::string format = fields.word("optimizer_format"); !format.empty())
    training.optimizer_format =
        choice(fields, "optimizer_format", number_format_from_text, names_of(all_number_formats));
  training.adaptation.lora_rank = fields.number("lora_rank").value_or(0);
  if (!fields.word("lora_targets").empty())
    training.adaptation.lora_targets = choice(fields, "lora_targets", lora_targets, names_of(all_lora_targets));
  return training;
}

PartialStrategy strategy_of(const RunFields& fields, const Graph& graph) {
  PartialStrategy partial;
  Strategy& s = partial.strategy;
  s.tensor_parallel = degree(fields, "tp");
  s.pipeline_stages = degree(fields, "pp");
  s.context_parallel = degree(fields, "cp");
  if (s.context_parallel > 1 && !fields.word("cp_comm").empty())
    s.context_communication =
        choice(fields, "cp_comm", context_communication_from_text, names_of(all_context_communications));
  if (!divisibility(graph).experts.empty()) {  // sources print an expert degree for dense networks too
    s.expert_parallel = expert_degree(fields);
    s.expert_tensor_parallel = degree(fields, "etp");
  }
  s.virtual_stages = virtual_stages(fields, graph);
  s.micro_batch = required(fields, "micro_batch");
  s.zero_stage = zero_stage(fields);
  s.sequence_parallel =
      is_on(fields, "sequence_parallel") && s.tensor_parallel > 1 ? SequenceParallel::on : SequenceParallel::off;
  partial.flash_attention_given = true;
  s.flash_attention =
      is_on(understood(fields, "flash_attention"), "flash_attention") ? FlashAttention::on : FlashAttention::off;
  const RunFields recompute = understood(fields, "recompute");
  if (recompute.word("recompute") != "least that fits") s.recompute = recompute_of(recompute, s, graph);
  const RunFields schedule = understood(fields, "schedule");
  if (!schedule.word("schedule").empty() && s.pipeline_stages > 1) {
    s.schedule = choice(schedule, "schedule", schedule_from_text, names_of(all_schedules));
    if (s.schedule == Schedule::one_f_one_b && s.virtual_stages > 1) s.schedule = Schedule::interleaved;
    if (s.schedule == Schedule::interleaved && s.virtual_stages == 1) s.schedule = Schedule::one_f_one_b;
    partial.schedule_given = true;
  }
  if (s.pipeline_stages > 1) s.layers_per_stage = stage_layout_from_text(fields.word("layers_per_stage"));
  const std::int64_t group = fields.number("fsdp_group").value_or(fields.number("zero1_group").value_or(0));
  if (s.zero_stage > 0 && group > 1) {
    s.shard_group = static_cast<std::int32_t>(group);
    partial.shard_group_given = true;
  }
  return partial;
}

}  // namespace plumbline
