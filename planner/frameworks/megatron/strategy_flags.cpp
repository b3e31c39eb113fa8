#include <algorithm>
#include <array>

#include "planner/frameworks/megatron/flag_rows.h"
#include "planner/frameworks/megatron/layout.h"
#include "planner/frameworks/megatron/values.h"

namespace plumbline::megatron {
namespace {

using Settings = LaunchSettings;
using Value = std::optional<Json>;
using Degree = std::optional<std::int32_t> Settings::*;

/// Written where it is more than 1.
LaunchKey degree_flag(std::string_view flag, std::string_view source, Degree field) {
  return {.path = flag,
          .source = source,
          .write = [field](const Settings& s) -> Value {
            return (s.*field).value_or(1) > 1 ? Value(std::int64_t{*(s.*field)}) : std::nullopt;
          },
          .read = [field](const Json& value, Settings& s) { s.*field = degree(value); }};
}

/// Never written where `is_written` is null.
LaunchKey switch_flag(std::string_view flag, std::string_view source, bool (*is_written)(const Settings&),
                      void (*turn_on)(Settings&)) {
  LaunchKey key{.path = flag, .source = source, .read = [turn_on](const Json& value, Settings& s) {
                  if (is_on(value)) turn_on(s);
                }};
  if (is_written != nullptr)
    key.write = [is_written](const Settings& s) { return is_written(s) ? Value(true) : std::nullopt; };
  return key;
}

/// Understood, with nothing to keep.
void nothing(Settings&) {}
constexpr bool (*never)(const Settings&) = nullptr;

std::int32_t zero(const Settings& s) { return s.zero_stage.value_or(0); }
bool shards(const Settings& s) { return zero(s) >= 1; }
bool shards_gradients(const Settings& s) { return zero(s) >= 2; }
bool reduces(const Settings& s) {
  return std::int64_t{s.data_parallel.value_or(1)} * s.context_parallel.value_or(1) > 1;
}
/// Muon's optimizer reads whole gradients: arguments.py asserts that nothing overlaps.
bool overlaps(const Settings& s) { return reduces(s) && s.optimizer != Optimizer::muon && s.choices.overlap != "none"; }
bool overlaps_gathers(const Settings& s) { return shards(s) && overlaps(s) && s.choices.overlap != "reductions"; }

/// arguments.py: both are off unless they are said; the second needs the first.
std::vector<LaunchKey> overlap_flags() {
  const auto on_where = [](bool (*is_on)(const Settings&)) {
    return [is_on](const Settings& s) { return is_on(s) ? Value(true) : std::nullopt; };
  };
  return {{.path = "--overlap-grad-reduce",
           .source = arguments_source,
           .write = on_where(overlaps),
           .read = [](const Json& value, Settings& s) { s.choices.overlap = is_on(value) ? "reductions" : "none"; }},
          {.path = "--overlap-param-gather",
           .source = arguments_source,
           .write = on_where(overlaps_gathers),
           .read = [](const Json& value, Settings& s) {
             if (is_on(value))
               s.choices.overlap = "both";
             else if (s.choices.overlap.empty())
               s.choices.overlap = "reductions";
           }}};
}
RecomputeMode mode(const Settings& s) { return s.recompute.value_or(Recompute{}).mode; }

bool has_mixture(const Settings& s) {
  return s.expert_parallel.value_or(1) > 1 || s.expert_tensor_parallel.value_or(1) > 1;
}

Value instances(const Settings& s) {
  const std::int64_t group = sharding_ranks(s);
  if (!shards(s) || group < 1 || group >= gradient_ranks(s)) return std::nullopt;
  return Value(gradient_ranks(s) / group);
}

Value sharding(const Settings& s) {
  if (!shards_gradients(s)) return std::nullopt;
  return Value(zero(s) == 2 ? "optim_grads" : "optim_grads_params");
}

void read_sharding(const Json& value, Settings& s) {
  const std::string text = word(value);
  constexpr std::array<std::string_view, 4> names{"no_shard", "optim", "optim_grads", "optim_grads_params"};
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    throw InputError({"", "found '" + text + "'",
                      "one of no_shard, optim, optim_grads, "
                      "optim_grads_params",
                      ""});
  // Without --use-megatron-fsdp it says nothing; read behind that flag.
  if (s.zero_stage == 3) s.zero_stage = static_cast<std::int32_t>(found - names.begin());
}

Value layout(const Settings& s) {
  return s.layers_per_stage.empty() ? std::nullopt : Value(layout_text(s.layers_per_stage));
}

Value virtual_stages(const Settings& s) {
  if (s.virtual_stages.value_or(1) < 2 || !s.layers_per_stage.empty()) return std::nullopt;
  return Value(std::int64_t{*s.virtual_stages});
}

/// Whether layers run again, not parts of them.
bool is_whole(const Settings& s) {
  const RecomputeMode m = mode(s);
  return m == RecomputeMode::full || m == RecomputeMode::uniform || m == RecomputeMode::block;
}

Value granularity(const Settings& s) {
  if (is_whole(s)) return Value("full");
  const bool is_partial = mode(s) == RecomputeMode::selective || mode(s) == RecomputeMode::modules;
  return is_partial ? Value("selective") : std::nullopt;
}

void read_granularity(const Json& value, Settings& s) {
  const std::string text = word(value);
  if (text != "full" && text != "selective") throw InputError({"", "found '" + text + "'", "full or selective", ""});
  s.recompute = Recompute{text == "full" ? RecomputeMode::full : RecomputeMode::selective};
}

Value method(const Settings& s) {
  if (!is_whole(s)) return std::nullopt;
  return Value(mode(s) == RecomputeMode::block ? "block" : "uniform");
}

/// Read behind the granularity, and before the number of layers.
void read_method(const Json& value, Settings& s) {
  if (value.if_string() == nullptr) return;
  const std::string text = word(value);
  if (text != "uniform" && text != "block") throw InputError({"", "found '" + text + "'", "uniform or block", ""});
  if (text == "block" && mode(s) == RecomputeMode::full) s.recompute = Recompute{RecomputeMode::block, 1};
}

Value recomputed_layers(const Settings& s) {
  if (!is_whole(s)) return std::nullopt;
  return Value(std::int64_t{s.recompute->n});
}

void read_recomputed_layers(const Json& value, Settings& s) {
  const auto is_named = [](const Json& json) { return json.if_integer() != nullptr || json.if_string() != nullptr; };
  if (!is_named(value) || !is_whole(s)) return;
  const std::string count = std::to_string(degree(value));
  s.recompute = *recompute_from_text((mode(s) == RecomputeMode::block ? "block:" : "uniform:") + count);
}

Value modules(const Settings& s) {
  if (mode(s) != RecomputeMode::modules) return std::nullopt;
  Json::Array names;
  for (const RecomputeModule module : all_recompute_modules)
    if (s.recompute->modules.has(module)) names.emplace_back(to_text(module));
  return Value(names.size() == 1 ? names.front() : Json(names));
}

void read_modules(const Json& value, Settings& s) {
  std::string text;
  if (const Json::Array* const all = value.if_array())
    for (const Json& one : *all) text += (text.empty() ? "" : "+") + word(one);
  else
    text = word(value);
  const auto recompute = recompute_from_text("selective:" + text);
  if (!recompute)
    throw InputError(
        {"", "found '" + text + "'", "core_attn, moe_act, layernorm, mla_up_proj, mlp, moe, shared_experts", ""});
  if (mode(s) == RecomputeMode::selective) s.recompute = *recompute;
}

Value context_communication(const Settings& s) {
  if (s.context_parallel.value_or(1) == 1 || s.context_communication != ContextCommunication::all_to_all)
    return std::nullopt;
  return Value("a2a");
}

/// One for all layers, or one for each.
bool understands_context_communication(const Json& value) {
  const Json::Array* const all = value.if_array();
  const Json& one = all == nullptr || all->size() != 1 ? value : all->front();
  return one.if_string() != nullptr && (*one.if_string() == "p2p" || *one.if_string() == "a2a");
}

void read_context_communication(const Json& value, Settings& s) {
  const Json::Array* const all = value.if_array();
  const std::string name = word(all == nullptr ? value : all->front());
  s.context_communication = name == "a2a" ? ContextCommunication::all_to_all : ContextCommunication::ring;
}

std::vector<LaunchKey> degree_flags() {
  return {degree_flag("--tensor-model-parallel-size", model_parallel_source, &Settings::tensor_parallel),
          degree_flag("--pipeline-model-parallel-size", model_parallel_source, &Settings::pipeline_stages),
          {.path = "--num-virtual-stages-per-pipeline-rank",
           .source = arguments_source,
           .write = virtual_stages,
           .read = [](const Json& value, Settings& s) { s.virtual_stages = degree(value); }},
          {.path = "--pipeline-model-parallel-layout",
           .source = arguments_source,
           .write = layout,
           .read = [](const Json& value, Settings& s) { s.layers_per_stage = layers_from_layout(word(value)); }},
          degree_flag("--context-parallel-size", model_parallel_source, &Settings::context_parallel),
          {.path = "--cp-comm-type",
           .source = arguments_source,
           .write = context_communication,
           .read = read_context_communication,
           .understands = understands_context_communication,
           .effect = KeyEffect::time},
          switch_flag(
              "--sequence-parallel", model_parallel_source,
              [](const Settings& s) { return s.sequence_parallel == SequenceParallel::on; },
              [](Settings& s) { s.sequence_parallel = SequenceParallel::on; }),
          degree_flag("--expert-model-parallel-size", model_parallel_source, &Settings::expert_parallel),
          {.path = "--expert-tensor-parallel-size",
           .source = model_parallel_source,
           .write =
               [](const Settings& s) {
                 return has_mixture(s) ? Value(std::int64_t{s.expert_tensor_parallel.value_or(1)}) : std::nullopt;
               },
           .read = [](const Json& value, Settings& s) { s.expert_tensor_parallel = degree(value); }},
          {.path = "--micro-batch-size",
           .source = training_source,
           .write = [](const Settings& s) { return s.micro_batch ? Value(*s.micro_batch) : std::nullopt; },
           .read = [](const Json& value, Settings& s) { s.micro_batch = degree(value); }},
          {.path = "--global-batch-size",
           .source = training_source,
           .write = [](const Settings& s) { return s.global_batch ? Value(*s.global_batch) : std::nullopt; },
           .read = [](const Json& value, Settings& s) { s.global_batch = degree(value); }}};
}

std::vector<LaunchKey> sharding_flags() {
  return {switch_flag("--use-distributed-optimizer", arguments_source, shards,
                      [](Settings& s) { s.zero_stage = std::max(1, zero(s)); }),
          switch_flag("--use-megatron-fsdp", common_source, shards_gradients, [](Settings& s) { s.zero_stage = 3; }),
          {.path = "--ckpt-format",
           .source = "arguments.py asserts it of Megatron-FSDP",
           .write = [](const Settings& s) { return shards_gradients(s) ? Value("fsdp_dtensor") : std::nullopt; },
           .read = [](const Json&, Settings&) {},
           .since = "core_v0.14.0"},
          switch_flag("--use-custom-fsdp", arguments_source, never, [](Settings& s) { s.zero_stage = 3; }),
          {.path = "--data-parallel-sharding-strategy",
           .source = arguments_source,
           .write = sharding,
           .read = read_sharding},
          switch_flag("--use-torch-fsdp2", common_source, never, [](Settings& s) { s.zero_stage = 3; }),
          switch_flag("--torch-fsdp2-no-reshard-after-forward", arguments_source, never,
                      [](Settings& s) { s.zero_stage = std::min(2, zero(s)); }),
          {.path = "--num-distributed-optimizer-instances",
           .source = arguments_source,
           .write = instances,
           .read = [](const Json& value, Settings& s) { s.shard_copies = degree(value); }},
          switch_flag("--no-gradient-accumulation-fusion", arguments_source, shards_gradients, nothing)};
}

std::vector<LaunchKey> recompute_flags() {
  return {
      switch_flag("--recompute-activations", arguments_source, never,
                  [](Settings& s) { s.recompute = Recompute{RecomputeMode::selective}; }),
      switch_flag("--checkpoint-activations", "megatron/arguments.py of 2020 and 2021", never,
                  [](Settings& s) { s.recompute = Recompute{RecomputeMode::full}; }),
      {.path = "--checkpoint-num-layers",
       .source = "megatron/arguments.py of 2020 and 2021",
       .read = read_recomputed_layers},
      {.path = "--activations-checkpoint-method",
       .source = "megatron/arguments.py of 2021 and 2022",
       .read =
           [](const Json& value, Settings& s) {
             s.recompute = Recompute{RecomputeMode::full};
             read_method(value, s);
           }},
      {.path = "--activations-checkpoint-num-layers",
       .source = "megatron/arguments.py of 2021 and 2022",
       .read = read_recomputed_layers},
      {.path = "--recompute-granularity", .source = transformer_source, .write = granularity, .read = read_granularity},
      {.path = "--recompute-method", .source = transformer_source, .write = method, .read = read_method},
      {.path = "--recompute-num-layers",
       .source = transformer_source,
       .write = recomputed_layers,
       .read = read_recomputed_layers},
      {.path = "--recompute-modules", .source = transformer_source, .write = modules, .read = read_modules},
      {.path = "--cpu-offloading-num-layers",
       .source = model_parallel_source,
       .write =
           [](const Settings& s) {
             return mode(s) == RecomputeMode::offloaded ? Value(std::int64_t{s.recompute->n}) : std::nullopt;
           },
       .read =
           [](const Json& value, Settings& s) {
             const auto layers = static_cast<std::int32_t>(whole(value, 0, largest_degree));
             if (layers > 0) s.recompute = Recompute{RecomputeMode::offloaded, layers};
           }},
      {.path = "--attention-backend",
       .source = arguments_source,
       .write =
           [](const Settings& s) { return s.flash_attention == FlashAttention::off ? Value("unfused") : std::nullopt; },
       .read =
           [](const Json& value, Settings& s) {
             const std::string text = word(value);
             s.flash_attention = text == "unfused" || text == "local" ? FlashAttention::off : FlashAttention::on;
           }},
      switch_flag("--use-flash-attn", arguments_source, never,
                  [](Settings& s) { s.flash_attention = FlashAttention::on; })};
}

}  // namespace

std::vector<LaunchKey> strategy_flags() {
  std::vector<LaunchKey> all = degree_flags();
  for (const auto& more : {sharding_flags(), overlap_flags(), recompute_flags()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool recomputes_layers(const Settings& s) { return is_whole(s); }

void clear_idle_overlap(Settings& s) {
  const bool is_alone = s.data_parallel && !reduces(s);
  if (is_alone || (s.choices.overlap == "reductions" && !shards(s))) s.choices.overlap.clear();
}

}  // namespace plumbline::megatron
