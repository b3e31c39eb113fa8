// Plain PyTorch: a script with the plan's constants, both directions.
#include <limits>

#include "core/base/errors.h"
#include "core/io/schedule_csv.h"
#include "planner/frameworks/launch/hub_model.h"
#include "planner/frameworks/launch/key_values.h"
#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/launchers.h"
#include "planner/frameworks/launch/network_layers.h"
#include "planner/frameworks/launch/trainer_flags.h"
#include "planner/frameworks/pytorch/network.h"
#include "planner/frameworks/pytorch/script.h"
#include "planner/frameworks/torch/schedule_names.h"

namespace plumbline {
namespace {

using Settings = LaunchSettings;
using Written = std::optional<Json>;
using torch::is_by_name;
using torch::schedule_file;

constexpr std::string_view meshes = "torch/distributed/device_mesh.py: init_device_mesh";
constexpr std::string_view pipelining = "torch/distributed/pipelining/schedules.py";
constexpr std::string_view fully_shard = "torch/distributed/fsdp/_fully_shard/_fully_shard.py";
constexpr std::string_view own = "the script's own loop";

bool has_pipeline(const Settings& s) { return s.pipeline_stages.value_or(1) > 1; }
std::int32_t chunks(const Settings& s) { return s.pipeline_stages.value_or(1) * s.virtual_stages.value_or(1); }

LaunchKey degree(std::string_view name, std::optional<std::int32_t> Settings::*axis, std::string_view source) {
  return {.path = name,
          .source = source,
          .write = [axis](const Settings& s) { return Json(std::int64_t{(s.*axis).value_or(1)}); },
          .read =
              [axis](const Json& v, Settings& s) {
                s.*axis = static_cast<std::int32_t>(JsonPlace(v, "").integer(0, std::int64_t{1} << 24));
              }};
}
LaunchKey count(std::string_view name, std::optional<std::int64_t> Settings::*number) {
  return {.path = name,
          .source = own,
          .write = [number](const Settings& s) { return Json((s.*number).value_or(1)); },
          .read =
              [number](const Json& v, Settings& s) {
                s.*number = JsonPlace(v, "").integer(1, std::numeric_limits<std::int64_t>::max() / 2);
              }};
}

/// The network's, or two for each chunk where it is not known.
Written layers(const Settings& s) {
  std::vector<std::int32_t> split = s.layers_per_stage;
  if (split.empty()) split = even_split(pytorch::layers_of_network(s).value_or(std::int64_t{2} * chunks(s)), chunks(s));
  Json::Array numbers;
  for (const std::int32_t number : split) numbers.emplace_back(std::int64_t{number});
  return Json(std::move(numbers));
}

void read_layers(const Json& value, Settings& s) {
  std::int64_t sum = 0;
  std::vector<std::int32_t> split;
  for (const JsonPlace& one : JsonPlace(value, "").elements()) {
    split.push_back(static_cast<std::int32_t>(one.integer(0, 100'000)));
    sum += split.back();
  }
  if (split.empty()) throw InputError({"", "no layers", "layers of each chunk", ""});
  if (split != even_split(sum, static_cast<std::int64_t>(split.size()))) s.layers_per_stage = split;
}

Written schedule_name(const Settings& s) {
  return Json(has_pipeline(s) && s.schedule ? torch::schedule_name(*s.schedule) : "");
}
void read_schedule(const Json& value, Settings& s) {
  const std::string& name = word_value(value);
  if (name.empty()) return;
  s.schedule = torch::schedule_named(name);
  if (!s.schedule && name != "PipelineScheduleMulti")
    throw InputError({"", "'" + name + "'", "a schedule of torch.distributed.pipelining that is known here", ""});
}
Written csv(const Settings& s) {
  return Json(has_pipeline(s) && s.schedule && !is_by_name(*s.schedule) ? schedule_file(*s.schedule) : "");
}
void read_csv(const Json& value, Settings& s) {
  const std::string& file = word_value(value);
  if (file.empty()) return;
  s.schedule = torch::schedule_of_file(file);
  if (!s.schedule) throw InputError({"", "'" + file + "'", "schedule-NAME.csv", ""});
}
Written is_v(const Settings& s) {
  return Json(s.schedule && placement(*s.schedule) == StagePlacement::v_shaped && has_pipeline(s));
}

Written recompute_every(const Settings& s) {
  const Recompute recompute = s.recompute.value_or(Recompute{});
  return Json(std::int64_t{recompute.mode == RecomputeMode::none ? 0 : recompute.n});
}
void read_recompute(const Json& value, Settings& s) {
  const auto n = static_cast<std::int32_t>(JsonPlace(value, "").integer(0, 100'000));
  s.recompute = n == 0 ? Recompute{} : n == 1 ? Recompute{RecomputeMode::full} : Recompute{RecomputeMode::every_nth, n};
}

template <class Value>
Value named(const Json& value, std::optional<Value> (*from_text)(std::string_view), const char* expected) {
  const std::string& text = word_value(value);
  const std::optional<Value> found = from_text(text);
  if (!found) throw InputError({"", "'" + text + "'", expected, ""});
  return *found;
}

std::vector<LaunchKey> pipeline_keys() {
  return {degree("PIPELINE_STAGES", &Settings::pipeline_stages, meshes),
          degree("VIRTUAL_STAGES", &Settings::virtual_stages, pipelining),
          {.path = "SCHEDULE", .source = pipelining, .write = schedule_name, .read = read_schedule},
          {.path = "SCHEDULE_FILE", .source = pipelining, .write = csv, .read = read_csv},
          {.path = "SCHEDULE_IS_V", .source = pipelining, .write = is_v},
          {.path = "LAYERS", .source = own, .write = layers, .read = read_layers}};
}

std::vector<LaunchKey> parallel_keys() {
  return {degree("TENSOR_PARALLEL", &Settings::tensor_parallel, meshes),
          {.path = "SEQUENCE_PARALLEL",
           .source = "torch/distributed/tensor/parallel/style.py: SequenceParallel",
           .write = [](const Settings& s) { return Json(s.sequence_parallel == SequenceParallel::on); },
           .read =
               [](const Json& v, Settings& s) {
                 s.sequence_parallel = JsonPlace(v, "").boolean() ? SequenceParallel::on : SequenceParallel::off;
               }},
          degree("DATA_PARALLEL", &Settings::data_parallel, meshes),
          degree("SHARD_GROUP", &Settings::shard_group, fully_shard),
          degree("LAYERS_PER_UNIT", &Settings::layers_per_unit, fully_shard),
          {.path = "SECONDARY_SHARD_GROUP",
           .source = fully_shard,
           .write = [](const Settings& s) { return written_degree(s.secondary_shard_group); },
           .read = [](const Json& v, Settings& s) { s.secondary_shard_group = degree_value(v); }},
          {.path = "ZERO_STAGE",
           .source = fully_shard,
           .write = [](const Settings& s) { return Json(std::int64_t{s.zero_stage.value_or(0)}); },
           .read = [](const Json& v,
                      Settings& s) { s.zero_stage = static_cast<std::int32_t>(JsonPlace(v, "").integer(0, 3)); }}};
}

std::vector<LaunchKey> training_keys() {
  return {count("MICRO_BATCH", &Settings::micro_batch),
          count("MICRO_BATCHES", &Settings::micro_batches),
          count("SEQUENCE_LENGTH", &Settings::sequence_length),
          {.path = "RECOMPUTE_EVERY",
           .source = "torch/distributed/algorithms/_checkpoint/checkpoint_wrapper.py",
           .write = recompute_every,
           .read = read_recompute},
          {.path = "FLASH_ATTENTION",
           .source = "torch/backends/cuda/__init__.py: enable_flash_sdp",
           .write = [](const Settings& s) { return Json(s.flash_attention != FlashAttention::off); },
           .read =
               [](const Json& v, Settings& s) {
                 s.flash_attention = JsonPlace(v, "").boolean() ? FlashAttention::on : FlashAttention::off;
               }},
          {.path = "PRECISION",
           .source = fully_shard,
           .write = [](const Settings& s) { return Json(to_text(s.precision.value_or(PrecisionRecipe::bf16))); },
           .read =
               [](const Json& v, Settings& s) {
                 s.precision = named(v, precision_recipe_from_text, "fp32, bf16 or bf16-pure");
                 if (s.precision == PrecisionRecipe::bf16) s.gradient_format = NumberFormat::fp32;
               }},
          {.path = "OPTIMIZER",
           .source = "torch/optim",
           .write = [](const Settings& s) { return Json(to_text(s.optimizer.value_or(Optimizer::adamw))); },
           .read = [](const Json& v,
                      Settings& s) { s.optimizer = named(v, optimizer_from_text, "an optimizer of torch.optim"); }}};
}

/// A constant for each member of the recipe; None: nobody said it.
std::string constant_name(std::string_view member) {
  std::string name(member);
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

LaunchKey recipe_constant(std::string_view name, std::optional<double> LaunchRecipe::*member) {
  return recipe_number(name, own, member);
}
LaunchKey recipe_constant(std::string_view name, std::optional<std::int64_t> LaunchRecipe::*member) {
  return member == &LaunchRecipe::checkpoint_every ? recipe_interval(name, own) : recipe_count(name, own, member);
}
LaunchKey recipe_constant(std::string_view name, std::optional<std::string> LaunchRecipe::*) {
  return recipe_folder(name, own);
}
LaunchKey recipe_constant(std::string_view name, std::optional<LearningRateShape> LaunchRecipe::*) {
  return recipe_shape(name, own,
                      {{LearningRateShape::constant, "constant"},
                       {LearningRateShape::linear, "linear"},
                       {LearningRateShape::cosine, "cosine"},
                       {LearningRateShape::inverse_square_root, "inverse-sqrt"}});
}

std::vector<LaunchKey> recipe_keys() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for_each_recipe_member([&](std::string_view name, auto) { all.push_back(constant_name(name)); });
    return all;
  }();
  std::vector<LaunchKey> rows;
  for_each_recipe_member([&](std::string_view, auto member) {
    LaunchKey row = recipe_constant(names[rows.size()], member);
    row.write = [write = row.write](const Settings& s) -> Written { return write(s).value_or(Json()); };
    rows.push_back(std::move(row));
  });
  return rows;
}

LaunchKey of_network(std::string_view name, Json (*part)(const pytorch::ScriptNetwork&)) {
  return {.path = name, .source = own, .write = [part](const Settings& s) { return part(pytorch::script_network(s)); }};
}

void read_config(const Json& value, Settings& s) {
  const std::string& text = word_value(value);
  if (text.empty()) return;
  Json config = parse_json(text, "CONFIG");
  if (config.if_object() == nullptr) throw InputError({"", config.type_name().data(), "a config of Hugging Face", ""});
  s.network_config = std::move(config);
}

std::vector<LaunchKey> network_keys() {
  LaunchKey config = of_network("CONFIG", [](const pytorch::ScriptNetwork& n) { return Json(n.config); });
  config.read = read_config;
  return {of_network("NETWORK", [](const pytorch::ScriptNetwork& n) { return n.network; }),
          of_network("PUBLISHED", [](const pytorch::ScriptNetwork& n) { return n.published; }),
          of_network("STAND_IN", [](const pytorch::ScriptNetwork& n) { return Json(n.stand_in); }), config};
}

const std::vector<LaunchKey>& keys() {
  static const std::vector<LaunchKey> all = [] {
    std::vector<LaunchKey> rows;
    for (const auto& group : {pipeline_keys(), parallel_keys(), training_keys(), recipe_keys(), network_keys()})
      rows.insert(rows.end(), group.begin(), group.end());
    return rows;
  }();
  return all;
}

/// A name of the Hub where the plan's network has one.
std::string weights_example(const Settings& s) { return missing_hub_name(s).empty() ? hub_name(s) : "FOLDER"; }

LaunchFiles write_files(const Settings& s, std::string_view release) {
  LaunchFiles written;
  const std::string what = "Trains " + (s.model.empty() ? "a network" : s.model) + " on " +
                           std::to_string(s.devices.value_or(1)) + " GPUs as planned";
  written.files.push_back({"train.py", pytorch::script_text(what, written_tree(keys(), release, s))});
  if (has_pipeline(s) && s.schedule && !is_by_name(*s.schedule)) {
    const PipelineShape shape{*s.pipeline_stages, s.virtual_stages.value_or(1),
                              static_cast<std::int32_t>(s.micro_batches.value_or(1))};
    written.files.push_back({schedule_file(*s.schedule), to_schedule_csv(compute_schedule(*s.schedule, shape))});
  }
  for (LaunchFile& file : launcher_files({"train.py", {}, s.model.empty() ? "pytorch" : s.model}, s))
    written.files.push_back(std::move(file));
  if (const std::string reason = pytorch::script_network(s).stand_in; !reason.empty())
    written.assumptions.push_back("the network in train.py is a small stand-in with the plan's layers: " + reason);
  else
    written.assumptions.push_back("train.py draws its first weights; WEIGHTS=" + weights_example(s) +
                                  " loads them from safetensors");
  written.assumptions.emplace_back("train.py draws random tokens; DATA=FILE trains on a file");
  if (!s.recipe.steps)
    written.assumptions.emplace_back("10 steps: the plan says neither recipe.steps nor a token budget");
  if (!s.recipe.learning_rate)
    written.assumptions.emplace_back("a learning rate of 3e-4: the plan says no recipe.learning_rate");
  if (s.zero_stage.value_or(0) == 0 && s.data_parallel.value_or(1) > 1 &&
      s.pipeline_stages.value_or(1) * s.tensor_parallel.value_or(1) > 1)
    written.assumptions.emplace_back(
        "replicas reduce gradients behind the step, where the plan's time has them beside it");
  if (const std::string heads = pytorch::undivided_heads(s); !heads.empty()) written.missing.push_back(heads);
  if (s.gradient_format == NumberFormat::bf16 && s.precision == PrecisionRecipe::bf16)
    written.unsaid.emplace_back("gradients are reduced in fp32 (MixedPrecisionPolicy.reduce_dtype), not in bf16");
  return written;
}

Imported read_file(std::string_view text, std::string_view name) {
  if (is_script_name(name)) return read_trainer_script(text, name);  // launch.sh, for its nodes
  Imported imported;
  imported.notes = read_tree(keys(), pytorch::read_script(text, name), name, imported.settings);
  return imported;
}

}  // namespace

LaunchTarget pytorch_target() {
  LaunchTarget target;
  target.framework = Framework::pytorch;
  target.title = "plain PyTorch: a script with FSDP2, DDP and pipelining calls";
  target.releases = {"2.13"};
  target.revision = "PyTorch 2.13.0";
  target.write = write_files;
  target.read = read_file;
  target.keys = keys;
  return target;
}

}  // namespace plumbline
