// Megatron-Bridge: lines that set a recipe's configuration, and the scripts that launch a training with them.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/base/errors.h"
#include "core/training/adaptation_text.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/launchers.h"
#include "planner/frameworks/launch/network_layers.h"
#include "planner/frameworks/launch/trainer_flags.h"
#include "planner/frameworks/megatron/flag_rows.h"
#include "planner/frameworks/megatron/overrides.h"
#include "planner/frameworks/megatron/shape.h"
#include "planner/frameworks/megatron/split.h"
#include "planner/frameworks/megatron/values.h"

namespace plumbline {
namespace {

using Settings = LaunchSettings;
using Value = std::optional<Json>;

constexpr std::string_view source = "src/megatron/bridge/training/config.py and megatron/core";

/// An attribute that means what a flag of Megatron-LM does. A recipe has values of its own: what a flag leaves out is
/// written as well.
struct Attribute {
  std::string_view path;
  std::string_view flag;
  const char* otherwise;  ///< JSON; empty: left out
};
constexpr std::array attributes{
    Attribute{"model.tensor_model_parallel_size", "--tensor-model-parallel-size", "1"},
    Attribute{"model.pipeline_model_parallel_size", "--pipeline-model-parallel-size", "1"},
    Attribute{"model.virtual_pipeline_model_parallel_size", "--num-virtual-stages-per-pipeline-rank", "null"},
    Attribute{"model.pipeline_model_parallel_layout", "--pipeline-model-parallel-layout", "null"},
    Attribute{"model.context_parallel_size", "--context-parallel-size", "1"},
    Attribute{"model.sequence_parallel", "--sequence-parallel", "false"},
    Attribute{"model.expert_model_parallel_size", "--expert-model-parallel-size", "1"},
    Attribute{"model.expert_tensor_parallel_size", "--expert-tensor-parallel-size", ""},
    Attribute{"model.seq_length", "--seq-length", ""},
    Attribute{"dataset.seq_length", "--seq-length", ""},
    Attribute{"train.micro_batch_size", "--micro-batch-size", ""},
    Attribute{"train.global_batch_size", "--global-batch-size", ""},
    Attribute{"train.train_iters", "--train-iters", ""},
    Attribute{"ddp.use_distributed_optimizer", "--use-distributed-optimizer", "false"},
    Attribute{"optimizer.use_distributed_optimizer", "--use-distributed-optimizer", "false"},
    Attribute{"optimizer.optimizer", "--optimizer", "\"adam\""},
    Attribute{"optimizer.sgd_momentum", "--sgd-momentum", ""},
    Attribute{"optimizer.lr", "--lr", ""},
    Attribute{"optimizer.min_lr", "--min-lr", ""},
    Attribute{"optimizer.adam_beta1", "--adam-beta1", ""},
    Attribute{"optimizer.adam_beta2", "--adam-beta2", ""},
    Attribute{"optimizer.adam_eps", "--adam-eps", ""},
    Attribute{"optimizer.clip_grad", "--clip-grad", ""},
    Attribute{"optimizer.weight_decay", "--weight-decay", ""},
    Attribute{"scheduler.lr_decay_style", "--lr-decay-style", ""},
    Attribute{"scheduler.lr_decay_iters", "--lr-decay-iters", ""},
    Attribute{"scheduler.lr_warmup_iters", "--lr-warmup-iters", ""},
    Attribute{"rng.seed", "--seed", ""},
    Attribute{"checkpoint.save", "--save", ""},
    Attribute{"checkpoint.load", "--load", ""},
    Attribute{"checkpoint.save_interval", "--save-interval", ""},
    Attribute{"ddp.num_distributed_optimizer_instances", "--num-distributed-optimizer-instances", "1"},
    Attribute{"ddp.use_megatron_fsdp", "--use-megatron-fsdp", "false"},
    Attribute{"ddp.data_parallel_sharding_strategy", "--data-parallel-sharding-strategy", ""},
    Attribute{"checkpoint.ckpt_format", "--ckpt-format", ""},
    Attribute{"ddp.overlap_grad_reduce", "--overlap-grad-reduce", "false"},
    Attribute{"ddp.overlap_param_gather", "--overlap-param-gather", "false"},
    Attribute{"model.cuda_graph_impl", "--cuda-graph-impl", ""},
    Attribute{"model.cuda_graph_modules", "--cuda-graph-modules", ""},
    Attribute{"model.cuda_graph_scope", "--cuda-graph-scope", ""},
    Attribute{"model.use_te_rng_tracker", "--te-rng-tracker", ""},
    Attribute{"model.recompute_granularity", "--recompute-granularity", "null"},
    Attribute{"model.recompute_method", "--recompute-method", "null"},
    Attribute{"model.recompute_num_layers", "--recompute-num-layers", "null"},
    Attribute{"model.recompute_modules", "--recompute-modules", ""},
    Attribute{"optimizer.use_precision_aware_optimizer", "--use-precision-aware-optimizer", ""}};

/// Attributes that change memory or time and are not modelled; those that change neither end in '*' or are listed so.
constexpr std::array unmodelled{"model.fine_grained_activation_offloading",
                                "model.offload_modules",
                                "comm_overlap.*",
                                "model.cpu_offloading*",
                                "optimizer.optimizer_cpu_offload",
                                "optimizer.main_grads_dtype",
                                "optimizer.main_params_dtype"};
constexpr std::array harmless{"logger.*",
                              "logger",
                              "checkpoint.*",
                              "checkpoint",
                              "scheduler.*",
                              "tokenizer.*",
                              "tokenizer",
                              "dist.*",
                              "profiling.*",
                              "validation.*",
                              "env_vars*",
                              "dataset*",
                              "train.*",
                              "optimizer.*",
                              "ddp.average_in_collective",
                              "model.pipeline_dtype",
                              "rng.*"};

LaunchKey attribute_key(const Attribute& attribute, const std::vector<LaunchKey>& flags) {
  const auto row =
      std::find_if(flags.begin(), flags.end(), [&](const LaunchKey& key) { return key.path == attribute.flag; });
  check(row != flags.end(), "every attribute names a flag of the table");
  const std::string otherwise = attribute.otherwise;
  LaunchKey key{.path = attribute.path,
                .source = source,
                .read = row->read,
                .understands = row->understands,
                .effect = row->effect};
  if (row->write)
    key.write = [write = row->write, otherwise](const Settings& s) -> Value {
      if (Value value = write(s)) return value;
      return otherwise.empty() ? std::nullopt : Value(parse_json(otherwise, "default"));
    };
  return key;
}

/// Recipes that mixed_precision.py registers.
struct NamedMix {
  PrecisionRecipe recipe;
  std::string_view name;
};
constexpr std::array named_mixes{NamedMix{PrecisionRecipe::bf16, "bf16_mixed"},
                                 NamedMix{PrecisionRecipe::fp16, "fp16_mixed"},
                                 NamedMix{PrecisionRecipe::fp8, "bf16_with_fp8_current_scaling_mixed"},
                                 NamedMix{PrecisionRecipe::fp8_delayed, "bf16_with_fp8_delayed_scaling_mixed"},
                                 NamedMix{PrecisionRecipe::fp8_block, "bf16_with_fp8_subchannel_scaling_mixed"},
                                 NamedMix{PrecisionRecipe::mxfp8, "bf16_with_mxfp8_mixed"},
                                 NamedMix{PrecisionRecipe::nvfp4, "bf16_with_nvfp4_mixed"}};

std::string_view mix_name(const Settings& s) {
  for (const NamedMix& one : named_mixes)
    if (s.precision == one.recipe) return one.name;
  return named_mixes.front().name;
}

LaunchKey precision_key() {
  return {.path = "mixed_precision",
          .source = source,
          .write = [](const Settings& s) { return Value(mix_name(s)); },
          .read =
              [](const Json& value, Settings& s) {
                const std::string recipe = megatron::word(value);
                if (recipe.find("mxfp8") != std::string::npos)
                  s.precision = PrecisionRecipe::mxfp8;
                else if (recipe.find("subchannel") != std::string::npos)
                  s.precision = PrecisionRecipe::fp8_block;
                else if (recipe.find("delayed") != std::string::npos)
                  s.precision = PrecisionRecipe::fp8_delayed;
                else if (recipe.find("fp8") != std::string::npos)
                  s.precision = PrecisionRecipe::fp8;
                else if (recipe.find("nvfp4") != std::string::npos)
                  s.precision = PrecisionRecipe::nvfp4;
                else if (recipe.starts_with("bf16"))
                  s.precision = PrecisionRecipe::bf16;
                else if (recipe.starts_with("fp16"))
                  s.precision = PrecisionRecipe::fp16;
                else
                  throw InputError({"", "found '" + recipe.substr(0, 60) + "'", "bf16_mixed or another recipe", ""});
              }};
}

/// fp16_mixed alone reduces in its own format where nothing is said.
bool mix_reduces_in_fp32(const Settings& s) { return s.precision != PrecisionRecipe::fp16; }
bool reduces_in_fp32(const Settings& s) {
  return s.gradient_format ? *s.gradient_format == NumberFormat::fp32 : mix_reduces_in_fp32(s);
}

LaunchKey gradient_key() {
  return {.path = "ddp.grad_reduce_in_fp32",
          .source = source,
          .write = [](const Settings& s) { return Value(reduces_in_fp32(s)); },
          .read =
              [](const Json& value, Settings& s) {
                const NumberFormat sixteen_bits =
                    s.precision == PrecisionRecipe::fp16 ? NumberFormat::fp16 : NumberFormat::bf16;
                s.gradient_format = megatron::is_on(value) ? NumberFormat::fp32 : sixteen_bits;
              }};
}

/// A torch.dtype of OptimizerConfig.
LaunchKey moments_key(std::string_view path) {
  return {.path = path,
          .source = "megatron/core/optimizer/optimizer_config.py",
          .write = [](const Settings& s) -> Value {
            const bool keeps_bf16 = s.precision != PrecisionRecipe::fp32 && s.optimizer_format == NumberFormat::bf16;
            return keeps_bf16 ? Value("torch.bfloat16") : std::nullopt;
          },
          .read =
              [](const Json& value, Settings& s) {
                const std::string name = megatron::word(value);
                if (name == "torch.bfloat16") s.optimizer_format = NumberFormat::bf16;
                if (name == "torch.float16") s.optimizer_format = NumberFormat::fp16;
                if (name == "torch.float32") s.optimizer_format = NumberFormat::fp32;
                if (!name.starts_with("torch."))
                  throw InputError({"", "found '" + name.substr(0, 60) + "'", "torch.bfloat16 or another dtype", ""});
              }};
}

/// An enum: a string would be equal to none of its members.
constexpr std::string_view unfused_attention = "AttnBackend.unfused";

/// Fused kernels are what the model's provider chooses where nothing is said.
LaunchKey attention_key() {
  return {.path = "model.attention_backend",
          .source = "megatron/core/transformer/enums.py: AttnBackend",
          .write =
              [](const Settings& s) {
                return s.flash_attention == FlashAttention::off ? Value(unfused_attention) : std::nullopt;
              },
          .read =
              [](const Json& value, Settings& s) {
                const std::string name = megatron::word(value);
                s.flash_attention =
                    name == unfused_attention || name == "unfused" ? FlashAttention::off : FlashAttention::on;
              }};
}

/// Adapters on every linear layer are LoRA's default (src/megatron/bridge/peft/lora.py).
constexpr std::string_view adapted_modules(LoraTargets targets) {
  switch (targets) {
    case LoraTargets::every_linear: return "";
    case LoraTargets::queries_keys_values: return R"(, target_modules=["linear_qkv"])";
    case LoraTargets::attention: return R"(, target_modules=["linear_qkv", "linear_proj"])";
  }
  return "";
}

/// The product of adapters is scaled by alpha / dim, which is 1 in a plan; Bridge's alpha is 32 where nobody says it.
std::string adapters_call(std::int64_t rank, LoraTargets targets, bool says_alpha = true) {
  const std::string dim = std::to_string(rank);
  return "LoRA(dim=" + dim + (says_alpha ? ", alpha=" + dim : "") + std::string(adapted_modules(targets)) + ")";
}

struct CalledAdapters {
  std::int64_t rank = 0;
  LoraTargets targets = LoraTargets::every_linear;
};

/// Of a call as adapters_call writes it, or without alpha; other modules are none that the plan knows.
std::optional<CalledAdapters> adapters_called(const std::string& call) {
  const std::string_view begin = "LoRA(dim=";
  if (!call.starts_with(begin)) return std::nullopt;
  std::int64_t rank = 0;
  const auto read = std::from_chars(call.data() + begin.size(), call.data() + call.size(), rank);
  if (read.ec != std::errc{} || rank < 1 || rank > 1'000'000) return std::nullopt;
  for (const LoraTargets targets : all_lora_targets)
    if (call == adapters_call(rank, targets) || call == adapters_call(rank, targets, false))
      return CalledAdapters{rank, targets};
  return std::nullopt;
}

void read_adapters(const Json& value, Settings& s) {
  const std::string call = megatron::word(value);
  const auto adapters = adapters_called(call);
  if (!adapters)
    throw InputError({"", "found '" + call.substr(0, 60) + "'",
                      "LoRA(dim=RANK), with the target_modules of " +
                          std::string(to_text(LoraTargets::queries_keys_values)) + " or attention",
                      ""});
  s.lora_rank = adapters->rank;
  s.lora_targets = adapters->targets;
}

LaunchKey adapters_key() {
  return {.path = "peft",
          .source = "src/megatron/bridge/peft/lora.py",
          .write = [](const Settings& s) -> Value {
            if (s.lora_rank.value_or(0) == 0) return std::nullopt;
            return Value(adapters_call(*s.lora_rank, s.lora_targets.value_or(LoraTargets::every_linear)));
          },
          .read = read_adapters};
}

/// Of a ring too, as a recipe may have chosen an all-to-all.
LaunchKey context_communication_key(const std::vector<LaunchKey>& flags) {
  LaunchKey key = attribute_key({"model.cp_comm_type", "--cp-comm-type", ""}, flags);
  key.write = [write = key.write](const Settings& s) -> Value {
    if (s.context_parallel.value_or(1) == 1) return std::nullopt;
    return write(s).value_or(Json("p2p"));
  };
  return key;
}

void read_tensor_overlap(const Json& value, Settings& s) {
  s.choices.tp_comm_overlap = megatron::is_on(value) ? "on" : "off";
}

/// A recipe may have chosen otherwise.
LaunchKey tensor_overlap_key() {
  return {.path = "model.tp_comm_overlap",
          .source = "megatron/core/model_parallel_config.py",
          .write = [](const Settings& s) -> Value {
            if (s.choices.tp_comm_overlap == "off") return Value(false);
            return megatron::overlaps_tensor_collectives(s) ? Value(true) : std::nullopt;
          },
          .read = read_tensor_overlap};
}

/// validate() of config.py asserts that no loss is checked on the host inside a graph of the iteration.
LaunchKey checked_loss_key() {
  return {.path = "rerun_state_machine.check_for_nan_in_loss",
          .source = "src/megatron/bridge/training/config.py",
          .write = [](const Settings& s) { return s.choices.cuda_graphs == "iteration" ? Value(false) : std::nullopt; },
          .read = [](const Json&, Settings&) {}};
}

std::vector<LaunchKey> made_table() {
  std::vector<LaunchKey> flags = megatron::strategy_flags();
  for (const auto& more : {megatron::recipe_flags(), megatron::stack_flags()})
    flags.insert(flags.end(), more.begin(), more.end());
  std::vector<LaunchKey> all;
  for (const Attribute& attribute : attributes) all.push_back(attribute_key(attribute, flags));
  all.push_back(context_communication_key(flags));
  all.push_back(precision_key());
  all.push_back(gradient_key());
  all.push_back(attention_key());
  all.push_back(adapters_key());
  all.push_back(tensor_overlap_key());
  all.push_back({.path = "comm_overlap.tp_comm_overlap",
                 .source = "src/megatron/bridge/training/comm_overlap.py",
                 .read = read_tensor_overlap});
  all.push_back(checked_loss_key());
  all.push_back(moments_key("optimizer.exp_avg_dtype"));
  all.push_back(moments_key("optimizer.exp_avg_sq_dtype"));
  for (const char* const path :
       {"model.account_for_embedding_in_pipeline_split", "model.account_for_loss_in_pipeline_split"})
    all.push_back({.path = path, .source = source, .read = [](const Json&, Settings&) {}});
  for (const char* const path : unmodelled)
    all.push_back({.path = path,
                   .source = source,
                   .effect = std::string_view(path) == "optimizer.optimizer_cpu_offload" ? KeyEffect::decides
                                                                                         : KeyEffect::memory_and_time});
  for (const char* const path : harmless) all.push_back({.path = path, .source = source});
  return all;
}

const std::vector<LaunchKey>& bridge_keys() {
  static const std::vector<LaunchKey> keys = made_table();
  return keys;
}

/// Flags of Megatron-LM as attributes of the model.
Json::Object model_attributes(const Json::Object& flags) {
  Json::Object all;
  for (const auto& [flag, value] : flags) {
    std::string name = flag.substr(2);
    std::replace(name.begin(), name.end(), '-', '_');
    all.emplace_back(name, value);
  }
  return all;
}

Json with_split(const Json& tree, const Settings& s) {
  const Json::Object split = model_attributes(megatron::split_flags(s, megatron::layers_of_config(s.network_config)));
  Json::Object all = *tree.if_object();
  for (auto& [section, value] : all) {
    if (section != "model") continue;
    Json::Object model = *value.if_object();
    for (const Json::Member& member : split) {
      std::erase_if(model, [&](const Json::Member& one) { return one.first == member.first; });
      model.push_back(member);
    }
    value = std::move(model);
  }
  return all;
}

/// A recipe by name sets the format of reductions itself when it is applied (mixed_precision.py: setup): another one is
/// said to it.
std::string precision_lines(const Settings& s) {
  if (reduces_in_fp32(s) == mix_reduces_in_fp32(s)) return "";
  return "    cfg.mixed_precision = get_mixed_precision_config(cfg.mixed_precision)\n"
         "    cfg.mixed_precision.grad_reduce_in_fp32 = " +
         std::string(reduces_in_fp32(s) ? "True" : "False") + "\n";
}

/// A recipe's CommOverlapConfig sets the model's overlap itself when it is applied (comm_overlap.py: setup).
std::string overlap_lines(const Settings& s) {
  const bool is_on = megatron::overlaps_tensor_collectives(s);
  if (!is_on && s.choices.tp_comm_overlap != "off") return "";
  return "    if cfg.comm_overlap is not None:\n"
         "        cfg.comm_overlap.tp_comm_overlap = " +
         std::string(is_on ? "True" : "False") + "\n";
}

struct ImportLine {
  std::string_view used;
  std::string_view line;
};
constexpr std::array import_lines{
    ImportLine{"= torch.", "import torch\n"}, ImportLine{"= LoRA(", "from megatron.bridge.peft.lora import LoRA\n"},
    ImportLine{"get_mixed_precision_config(",
               "from megatron.bridge.training.mixed_precision import get_mixed_precision_config\n"},
    ImportLine{"= AttnBackend.", "from megatron.core.transformer.enums import AttnBackend\n"}};

std::string configure(const std::string& lines) {
  std::string imports;
  for (const ImportLine& one : import_lines)
    if (lines.find(one.used) != std::string::npos) imports += one.line;
  return imports + (imports.empty() ? "" : "\n\n") + "def configure(cfg):\n" + lines + "    return cfg\n";
}

LaunchFiles write_overrides(const Settings& s, std::string_view release) {
  LaunchFiles files;
  const Json tree = with_split(written_tree(bridge_keys(), release, s), s);
  files.files.push_back(
      {"overrides.py", "# What a plan says of a Megatron-Bridge recipe: call it on the recipe's ConfigContainer.\n" +
                           configure(megatron::overrides_text(tree) + precision_lines(s) + overlap_lines(s))});
  for (LaunchFile& file : launcher_files({"pretrain.py", {}, "plumbline-bridge"}, s))
    files.files.push_back(std::move(file));
  files.assumptions = {
      "pretrain.py is yours: it makes the recipe of the model, calls configure(cfg) of overrides.py and trains",
      s.recipe.learning_rate ? "the model is the recipe's" : "the model and the learning rate are the recipe's"};
  if (std::string sentence = megatron::missing_for_graphs(s); !sentence.empty())
    files.missing.push_back(std::move(sentence));
  if (std::string sentence = megatron::assumed_for_graphs(s); !sentence.empty())
    files.assumptions.push_back(std::move(sentence));
  if (s.precision == PrecisionRecipe::fp8)
    files.assumptions.emplace_back(std::string(mix_name(s)) + " keeps the first and the last layer in bf16");
  return files;
}

/// An even split that was written out.
void clear_even_layers(Settings& s) {
  if (s.layers_per_stage.empty()) return;
  const auto chunks = static_cast<std::int64_t>(s.layers_per_stage.size());
  const std::int64_t stages = s.pipeline_stages.value_or(1);
  if (chunks % stages != 0)
    throw InputError({"cfg.model.pipeline_model_parallel_layout", std::to_string(chunks) + " stages",
                      "a multiple of the " + std::to_string(stages) + " of pipeline_model_parallel_size", ""});
  s.virtual_stages = static_cast<std::int32_t>(chunks / stages);
  std::int64_t layers = 0;
  for (const std::int32_t count : s.layers_per_stage) layers += count;
  if (s.layers_per_stage == even_split(layers, chunks)) s.layers_per_stage.clear();
}

Imported read_overrides(std::string_view text, std::string_view name) {
  if (is_script_name(name)) return read_trainer_script(text, name);  // launch.sh, for its nodes
  Imported imported;
  const megatron::Overrides overrides = megatron::read_overrides(text, name);
  imported.notes = read_tree(bridge_keys(), overrides.tree, name, imported.settings);
  imported.notes.unread.insert(imported.notes.unread.end(), overrides.unresolved.begin(), overrides.unresolved.end());
  Settings& s = imported.settings;
  clear_even_layers(s);
  megatron::clear_idle_overlap(s);
  if (s.tensor_parallel.value_or(1) == 1) s.sequence_parallel = SequenceParallel::off;
  return imported;
}

}  // namespace

LaunchTarget megatron_bridge_target() {
  return {.framework = Framework::megatron_bridge,
          .title = "Megatron-Bridge overrides",
          .releases = {"main"},
          .revision = "NVIDIA-NeMo/Megatron-Bridge 067f987df (2026-08-22)",
          .write = write_overrides,
          .read = read_overrides,
          .keys = bridge_keys,
          .says_choice = megatron::says_choice};
}

}  // namespace plumbline
