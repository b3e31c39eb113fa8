// What several keys, or torchtitan's defaults, say together.
#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "planner/frameworks/launch/network_layers.h"
#include "planner/frameworks/torch/schedule_names.h"
#include "planner/frameworks/torchtitan/flavors.h"
#include "planner/frameworks/torchtitan/launch_keys.h"
#include "planner/frameworks/torchtitan/model_parts.h"

namespace plumbline::torchtitan {
namespace {

/// Throws InputError for numbers that no sum or product of two of them would hold.
std::optional<std::int64_t> integer_at(const Json& tree, std::string_view path) {
  constexpr std::int64_t largest = 1'000'000'000;
  const Json* const value = value_at(tree, path);
  if (value == nullptr || value->if_integer() == nullptr) return std::nullopt;
  const std::int64_t number = *value->if_integer();
  if (number < -largest || number > largest)
    throw InputError({std::string(path), "found " + std::to_string(number),
                      "a number from -" + std::to_string(largest) + " to " + std::to_string(largest), ""});
  return number;
}
std::string text_at(const Json& tree, std::string_view path, std::string_view otherwise = "") {
  const Json* const value = value_at(tree, path);
  return value != nullptr && value->if_string() != nullptr ? *value->if_string() : std::string(otherwise);
}
bool is_true_at(const Json& tree, std::string_view path) {
  const Json* const value = value_at(tree, path);
  return value != nullptr && value->if_bool() != nullptr && *value->if_bool();
}
std::string one_line(const Json& value) {
  std::string text = to_json_text(value, -1);
  text.pop_back();
  return text;
}

void settle_model(const Json& tree, LaunchSettings& s, ImportNotes& notes) {
  const std::string model = text_at(tree, "model.name", "llama3");
  const std::string name = text_at(tree, "model.flavor", "debugmodel");
  const std::string folder = text_at(tree, "model.hf_assets_path", text_at(tree, "model.tokenizer_path"));
  if (const Flavor* const flavor = flavor_named(model, name, folder))
    s.model = flavor->network;
  else if (name == "YOUR-FLAVOR")
    s.model = model;
  else
    notes.unread.push_back("model " + model + ", flavor " + name +
                           " is no network of the catalogue: say it with --model");
}

/// `float8.recipe_name`, later `quantize.linear.float8.recipe_name`; without it a tensor has one scale.
PrecisionRecipe float8_recipe(const Json& tree) {
  const std::string name = text_at(tree, "quantize.linear.float8.recipe_name", text_at(tree, "float8.recipe_name"));
  return name.starts_with("rowwise") ? PrecisionRecipe::fp8_row : PrecisionRecipe::fp8;
}

/// converters = ["float8"], before v0.1.1 "float8,other".
std::vector<std::string> converters(const Json& tree) {
  const Json* const value = value_at(tree, "model.converters");
  std::vector<std::string> all;
  if (value == nullptr) return all;
  if (const Json::Array* const list = value->if_array())
    for (const Json& one : *list) all.push_back(one.if_string() != nullptr ? *one.if_string() : one_line(one));
  std::string_view rest = value->if_string() != nullptr ? std::string_view(*value->if_string()) : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (end > 0) all.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

void settle_precision(const Json& tree, LaunchSettings& s, ImportNotes& notes) {
  s.precision = PrecisionRecipe::bf16;
  if (text_at(tree, "training.mixed_precision_param", "bfloat16") == "float32") s.precision = PrecisionRecipe::fp32;
  if (text_at(tree, "training.dtype", "float32") == "bfloat16") s.precision = PrecisionRecipe::bf16_pure;
  for (const std::string& converter : converters(tree)) {
    if (converter == "float8" || converter == "quantize.linear.float8")
      s.precision = float8_recipe(tree);
    else if (converter == "mx" || converter == "quantize.linear.mx")
      s.precision = PrecisionRecipe::mxfp8;
    else
      notes.unread.push_back("model.converters: " + converter + " changes memory and time and is not modelled");
  }
  // Parameters are kept in fp32, and so are their gradients.
  if (s.precision == PrecisionRecipe::bf16 || is_fp8(*s.precision)) s.gradient_format = NumberFormat::fp32;
  const std::string optimizer = text_at(tree, "optimizer.name", "AdamW");
  if (optimizer == "AdamW") s.optimizer = Optimizer::adamw;
  if (!s.optimizer)
    notes.unread.push_back("optimizer.name = \"" + optimizer + "\" changes memory and time and is not modelled");
}

/// What FSDP shards, over data-parallel and context-parallel ranks.
void settle_sharding(const Json& tree, LaunchSettings& s, ImportNotes& notes) {
  const std::int64_t replicas = integer_at(tree, "parallelism.data_parallel_replicate_degree").value_or(1);
  const std::int64_t sharders = integer_at(tree, "parallelism.data_parallel_shard_degree").value_or(-1);
  const std::int64_t cp = s.context_parallel.value_or(1);
  const std::string reshard = text_at(tree, "parallelism.fsdp_reshard_after_forward", "default");
  const bool drops = reshard == "always" || (reshard == "default" && s.pipeline_stages.value_or(1) == 1);
  s.zero_stage = sharders == 1 && cp == 1 ? 0 : drops ? 3 : 2;
  constexpr std::int64_t most = std::int64_t{1} << 24;
  if (sharders >= 1 && sharders <= most && sharders * replicas <= most) {
    s.data_parallel = static_cast<std::int32_t>(replicas * sharders);
    s.shard_group = static_cast<std::int32_t>(std::min(most, *s.zero_stage == 0 ? 1 : sharders * cp));
  } else if (replicas > 1) {
    notes.unread.push_back(
        "parallelism.data_parallel_shard_degree = -1 beside replicas: all ranks are taken for one shard group; say the "
        "degree");
  }
}

void settle_batch(const Json& tree, LaunchSettings& s) {
  const bool has_pipeline = s.pipeline_stages.value_or(1) > 1;
  if (const auto tokens = integer_at(tree, "training.num_tokens_per_microbatch_per_dp_rank");
      tokens && s.sequence_length) {
    s.micro_batch = std::max<std::int64_t>(1, *tokens / *s.sequence_length);
    const std::int64_t step = integer_at(tree, "training.num_tokens_per_train_step").value_or(-1);
    if (step > 0) s.global_batch = step / *s.sequence_length;
    if (step <= 0) s.micro_batches = has_pipeline ? integer_at(tree, "parallelism.num_pp_microbatches").value_or(1) : 1;
    return;
  }
  if (!s.sequence_length) s.sequence_length = 2048;  // job_config.py
  const std::int64_t local = std::max<std::int64_t>(
      1, integer_at(tree, "training.local_batch_size").value_or(integer_at(tree, "training.batch_size").value_or(8)));
  s.micro_batch = local;
  if (has_pipeline) {
    const auto parts = integer_at(tree, "parallelism.pipeline_parallel_microbatches");
    const std::int64_t each = integer_at(tree, "parallelism.pipeline_parallel_microbatch_size").value_or(1);
    s.micro_batch = std::max<std::int64_t>(1, parts && *parts > 0 ? local / *parts : each);
  }
  const std::int64_t global = integer_at(tree, "training.global_batch_size").value_or(-1);
  if (global > 0)
    s.global_batch = global;
  else
    s.micro_batches = local / *s.micro_batch;
}

void settle_recompute(const Json& tree, LaunchSettings& s, ImportNotes& notes) {
  const std::string mode = text_at(tree, "activation_checkpoint.mode", "selective");
  const std::string option = text_at(tree, "activation_checkpoint.selective_ac_option", "2");
  if (mode == "none" || mode == "full") {
    s.recompute = Recompute{mode == "full" ? RecomputeMode::full : RecomputeMode::none};
  } else if (mode == "selective" && option == "op") {
    s.recompute = Recompute{RecomputeMode::by_operator};
  } else if (mode == "selective") {
    const bool is_number = !option.empty() && option.size() < 6 &&
                           std::all_of(option.begin(), option.end(), [](char c) { return c >= '0' && c <= '9'; });
    const std::int32_t n = is_number ? std::stoi(option) : -1;
    if (n < 0)
      throw InputError({"activation_checkpoint.selective_ac_option", "'" + option + "'", "\"op\" or a number", ""});
    s.recompute = n < 2 ? Recompute{RecomputeMode::full} : Recompute{RecomputeMode::every_nth, n};
  } else {
    notes.unread.push_back("activation_checkpoint.mode = \"" + mode + "\" changes memory and time and is not modelled");
  }
}

void settle_order(const Json& tree, LaunchSettings& s, ImportNotes& notes) {
  const std::string name = text_at(tree, "parallelism.pipeline_parallel_schedule", "1F1B");
  const std::string csv = text_at(tree, "parallelism.pipeline_parallel_schedule_csv");
  s.schedule = csv.empty() ? torch::schedule_named(name) : torch::schedule_of_file(csv);
  if (s.schedule) return;
  notes.unread.push_back(csv.empty() ? "parallelism.pipeline_parallel_schedule = \"" + name +
                                           "\" is an order that is not modelled: 1f1b or interleaved stand for it"
                                     : "parallelism.pipeline_parallel_schedule_csv: the order in " + csv +
                                           " is not read here; `plan simulate --schedule-csv` reads it");
}

/// Of an order by file, whose class takes one stage of a rank as well as several.
bool has_one_stage_by_file(std::optional<Schedule> schedule) {
  return schedule && *schedule != Schedule::none && !torch::is_by_name(*schedule) &&
         record_of(*schedule).chunks == RankChunks::one;
}

/// Chunks of all ranks: counted out, or by torchtitan's rule.
std::int64_t chunks_of(const Json& tree, const LaunchSettings& s) {
  const std::int64_t pp = *s.pipeline_stages;
  const std::int64_t first = integer_at(tree, "parallelism.pipeline_parallel_first_stage_less_layers").value_or(1);
  const std::int64_t last = integer_at(tree, "parallelism.pipeline_parallel_last_stage_less_layers").value_or(1);
  const auto each = integer_at(tree, "parallelism.pipeline_parallel_layers_per_stage");
  const auto layers = known_layers(s);
  if (each && *each > 0 && layers) return (*layers + first + last + *each - 1) / *each;
  const bool takes_several =
      torch::takes_several_stages(text_at(tree, "parallelism.pipeline_parallel_schedule", "1F1B"));
  return takes_several && !has_one_stage_by_file(s.schedule) ? 2 * pp : pp;
}

void settle_split(const Json& tree, LaunchSettings& s, ImportNotes& notes) {
  const std::int64_t pp = *s.pipeline_stages;
  const std::int64_t first = integer_at(tree, "parallelism.pipeline_parallel_first_stage_less_layers").value_or(1);
  const std::int64_t last = integer_at(tree, "parallelism.pipeline_parallel_last_stage_less_layers").value_or(1);
  std::optional<std::int64_t> layers = known_layers(s);
  std::optional<std::vector<std::int32_t>> split;
  if (const Json* const parts = value_at(tree, "parallelism.module_fqns_per_model_part")) {
    split = layers_of(*parts);
    layers = 0;
    for (const std::int32_t each : *split) *layers += each;
  }
  const std::int64_t chunks = split ? static_cast<std::int64_t>(split->size()) : chunks_of(tree, s);
  if (chunks % pp != 0 || chunks == 0 || chunks > (std::int64_t{1} << 20))
    throw InputError({"parallelism.pipeline_parallel_degree",
                      std::to_string(chunks) + " stages on " + std::to_string(pp) + " ranks", "a multiple of the ranks",
                      ""});
  s.virtual_stages = static_cast<std::int32_t>(chunks / pp);
  if (!split && layers) split = own_split(*layers, chunks, first, last);
  if (split && split != even_split(*layers, chunks)) s.layers_per_stage = *split;
  if (!split && (first != 0 || last != 0))
    notes.unread.push_back(
        "pipeline stages are torchtitan's own split, which allows for the embedding and the output; taken for even, as "
        "the "
        "number of layers is not known");
}

struct Usual {
  std::string_view path;
  std::string_view value;  ///< as JSON
  std::string_view changes;
  bool decides = false;  ///< KeyEffect::decides
};

/// Keys that change nothing where they are as here.
constexpr std::array usual{Usual{"training.enable_cpu_offload", "false", "memory and time", true},
                           Usual{"training.mixed_precision_reduce", "\"float32\"", "memory and time"},
                           Usual{"training.compile", "true", "time"},
                           Usual{"compile.enable", "true", "time"},
                           Usual{"compile.components", "[\"model\",\"loss\"]", "time"},
                           Usual{"parallelism.enable_async_tensor_parallel", "false", "time"},
                           Usual{"parallelism.disable_loss_parallel", "false", "memory"},
                           Usual{"parallelism.context_parallel_rotate_method", "\"allgather\"", "time"},
                           Usual{"parallelism.context_parallel_load_balancer", "\"headtail\"", "time"},
                           Usual{"parallelism.expert_parallel_comm_backend", "\"standard\"", "time"},
                           Usual{"optimizer.early_step_in_backward", "false", "memory"},
                           Usual{"optimizer.implementation", "\"fused\"", "time"}};

void name_the_unusual(const Json& tree, ImportNotes& notes) {
  for (const Usual& key : usual) {
    const Json* const value = value_at(tree, key.path);
    if (value == nullptr || one_line(*value) == key.value) continue;
    notes.unread.push_back(std::string(key.path) + " = " + one_line(*value) + " changes " + std::string(key.changes) +
                           " and is not modelled");
    if (key.decides) notes.decisive.push_back(notes.unread.back());
  }
}

}  // namespace

const Json* value_at(const Json& tree, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Json* const value = tree.find(path.substr(0, dot));
  if (value == nullptr || value->is_null()) return nullptr;
  return dot == std::string_view::npos ? value : value_at(*value, path.substr(dot + 1));
}

void settle(const Json& tree, LaunchSettings& s, ImportNotes& notes) {
  // An interval says nothing where checkpoints are off, as they are by default.
  if (!is_true_at(tree, "checkpoint.enable") && !is_true_at(tree, "checkpoint.enable_checkpoint"))
    s.recipe.checkpoint = std::nullopt, s.recipe.checkpoint_every = std::nullopt;
  settle_model(tree, s, notes);
  settle_precision(tree, s, notes);
  settle_sharding(tree, s, notes);
  settle_batch(tree, s);
  settle_recompute(tree, s, notes);
  if (s.pipeline_stages.value_or(1) > 1) {
    settle_order(tree, s, notes);
    settle_split(tree, s, notes);
  }
  const bool is_off = value_at(tree, "parallelism.enable_sequence_parallel") != nullptr &&
                      !is_true_at(tree, "parallelism.enable_sequence_parallel");
  s.sequence_parallel = s.tensor_parallel.value_or(1) > 1 && !is_off ? SequenceParallel::on : SequenceParallel::off;
  // Experts that are not spread over ranks are split like everything else; dense networks have none.
  if (s.expert_parallel.value_or(1) == 1 && !s.expert_tensor_parallel) s.expert_tensor_parallel = 1;
  name_the_unusual(tree, notes);
}

}  // namespace plumbline::torchtitan
