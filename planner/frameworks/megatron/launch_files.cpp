// Megatron-LM: a file of arguments, and the scripts that launch pretrain_gpt.py with them.
#include <algorithm>

#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/launchers.h"
#include "planner/frameworks/megatron/flag_rows.h"
#include "planner/frameworks/megatron/releases.h"
#include "planner/frameworks/megatron/shape.h"
#include "planner/frameworks/megatron/split.h"
#include "planner/frameworks/megatron/values.h"
#include "planner/frameworks/syntax/arguments.h"

namespace plumbline {
namespace {

using Settings = LaunchSettings;

const std::vector<LaunchKey>& flag_keys() {
  static const std::vector<LaunchKey> keys = [] {
    std::vector<LaunchKey> all = megatron::strategy_flags();
    for (const auto& more : {megatron::recipe_flags(), megatron::stack_flags(), megatron::other_flags()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return keys;
}

void append(Json::Object& tree, Json::Object more) {
  for (Json::Member& member : more) tree.push_back(std::move(member));
}

/// Numbers that a run needs and a plan does not have.
void add_assumptions(Json::Object& tree, LaunchFiles& files, const Settings& s) {
  const auto assume = [&](const char* flag, Json value, const char* sentence) {
    tree.emplace_back(flag, std::move(value));
    files.assumptions.emplace_back(sentence);
  };
  if (!s.recipe.steps)
    assume("--train-iters", 100, "--train-iters 100: the plan says neither recipe.steps nor a token budget");
  if (!s.recipe.learning_rate) assume("--lr", 1e-4, "--lr 1e-4: the plan says no recipe.learning_rate");
  if (s.optimizer == Optimizer::muon && s.data_parallel.value_or(1) > 1 && s.choices.overlap != "none")
    files.assumptions.emplace_back(
        "gradients are reduced when their backward has ended: arguments.py refuses overlap with Muon (--overlap none "
        "prices what runs)");
  assume(
      "--mock-data", true,
      "--mock-data and NullTokenizer measure without data: put --data-path, --split and the tokenizer in their place");
}

/// validate_args: before Blackwell tensor and context parallelism need one connection, and Megatron-FSDP more than one.
std::vector<LaunchVariable> environment_of(const Settings& s) {
  const bool has_model_ranks = s.tensor_parallel.value_or(1) > 1 || s.context_parallel.value_or(1) > 1;
  if (!has_model_ranks || s.zero_stage.value_or(0) >= 2) return {};
  return {{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}};
}

Json::Object shape_of(const Settings& s, LaunchFiles& files) {
  if (s.network_config.is_null()) {
    files.missing.emplace_back("the network: the plan has no config of it, so its flags are yours to add");
    return {};
  }
  megatron::ShapeFlags shape = megatron::shape_flags(s.network_config, s.tensor_parallel.value_or(1));
  std::vector<std::string>& sentences = shape.flags.empty() ? files.missing : files.unsaid;
  for (std::string& sentence : shape.unsaid) sentences.push_back(std::move(sentence));
  return std::move(shape.flags);
}

/// Of a dense network the size says nothing; of a mixture its default is the tensor-parallel one.
void add_expert_tensor_parallel(Json::Object& tree, const Settings& s) {
  constexpr const char* flag = "--expert-tensor-parallel-size";
  const bool is_written = std::any_of(tree.begin(), tree.end(), [&](const auto& one) { return one.first == flag; });
  if (!is_written && megatron::has_experts(s.network_config))
    tree.emplace_back(flag, std::int64_t{s.expert_tensor_parallel.value_or(1)});
}

/// Megatron-LM asserts that there are as many positions as tokens (arguments.py).
void widen_positions(Json::Object& tree, const Settings& s, LaunchFiles& files) {
  for (auto& [flag, value] : tree) {
    const std::int64_t* const positions = flag == "--max-position-embeddings" ? value.if_integer() : nullptr;
    if (positions == nullptr || *positions >= s.sequence_length.value_or(0)) continue;
    files.assumptions.push_back("--max-position-embeddings " + std::to_string(*s.sequence_length) +
                                ", the sequence length: the network states " + std::to_string(*positions));
    value = Json(*s.sequence_length);
  }
}

/// Of virtual stages and a layout Megatron-LM takes one: a layout says both.
void add_split(Json::Object& tree, const Settings& s) {
  Json::Object split = megatron::split_flags(s, megatron::layers_of_config(s.network_config));
  if (Json(split).find("--pipeline-model-parallel-layout") != nullptr)
    std::erase_if(tree, [](const Json::Member& one) { return one.first == "--num-virtual-stages-per-pipeline-rank"; });
  append(tree, std::move(split));
}

LaunchFiles write_command(const Settings& s, std::string_view release) {
  LaunchFiles files;
  Json::Object tree = shape_of(s, files);
  const Json written = written_tree(flag_keys(), release, s);
  append(tree, *written.if_object());
  add_split(tree, s);
  add_expert_tensor_parallel(tree, s);
  widen_positions(tree, s, files);
  add_assumptions(tree, files, s);
  if (std::string sentence = megatron::missing_for_graphs(s); !sentence.empty())
    files.missing.push_back(std::move(sentence));
  if (std::string sentence = megatron::assumed_for_graphs(s); !sentence.empty())
    files.assumptions.push_back(std::move(sentence));
  const Json arguments(megatron::arguments_for(release, std::move(tree)));
  files.files.push_back({"arguments.txt", arguments_text(arguments)});
  const LaunchedProgram program{"pretrain_gpt.py", argument_words(arguments), "plumbline-megatron", environment_of(s)};
  for (LaunchFile& file : launcher_files(program, s)) files.files.push_back(std::move(file));
  return files;
}

/// Flags that take no value: what stands behind them is something else.
bool is_switch(std::string_view flag) {
  for (const std::string_view start :
       {"--bf16", "--fp16", "--sequence-parallel", "--use-", "--swiglu", "--untie-", "--group-query-attention",
        "--disable-", "--overlap-", "--recompute-activations", "--moe-grouped-gemm", "--qk-layernorm", "--add-qkv-bias",
        "--multi-latent-attention", "--account-for-", "--enable-cuda-graph", "--external-cuda-graph", "--no-"})
    if (flag.starts_with(start)) return true;
  return false;
}

bool is_read(std::string_view flag, const Json& value) {
  const std::vector<LaunchKey>& keys = flag_keys();
  return std::any_of(keys.begin(), keys.end(),
                     [&](const LaunchKey& key) { return key.path == flag && reads(key, value); });
}

/// The tree without values that the text does not hold.
Json resolved(const Json& tree, std::vector<std::string>& notes) {
  Json::Object kept;
  for (const auto& [flag, value] : *tree.if_object())
    if (!is_unresolved(value) || !is_read(flag, value))
      kept.emplace_back(flag, value);
    else if (is_switch(flag))
      kept.emplace_back(flag, true);
    else
      notes.push_back(flag + ": its value " + *value.if_string() + " is not in the file");
  return kept;
}

std::string text_at(const Json& tree, const char* flag) {
  const Json* const value = tree.find(flag);
  return value == nullptr ? "" : megatron::word(*value);
}

/// What Megatron-LM takes where no flag says it.
void take_defaults(const Json& tree, Settings& s) {
  if (!s.precision) s.precision = PrecisionRecipe::fp32;
  if (!s.gradient_format && s.precision != PrecisionRecipe::fp32 && s.precision != PrecisionRecipe::fp16)
    s.gradient_format = NumberFormat::fp32;
  if (!s.optimizer) s.optimizer = Optimizer::adamw;
  if (!s.zero_stage) s.zero_stage = 0;
  if (!s.recompute) s.recompute = Recompute{};
  if (!s.expert_tensor_parallel && tree.find("--num-experts") != nullptr)
    s.expert_tensor_parallel = s.tensor_parallel.value_or(1);
  if (s.tensor_parallel.value_or(1) == 1 || !s.sequence_parallel) s.sequence_parallel = SequenceParallel::off;
  if (!s.flash_attention && text_at(tree, "--transformer-impl") == "local") s.flash_attention = FlashAttention::off;
  if (!s.global_batch && s.micro_batch) s.micro_batches = 1;
}

/// Megatron-Core ends at the last layer of a chunk, however many it is told (recompute.py, checkpointed_forward).
void end_recompute_with_chunk(Settings& s) {
  const std::int64_t layers = megatron::layers_of_config(s.network_config);
  if (!s.recompute || layers == 0) return;
  const std::int64_t chunks = std::int64_t{s.pipeline_stages.value_or(1)} * s.virtual_stages.value_or(1);
  const std::int64_t most = s.layers_per_stage.empty()
                                ? (layers + chunks - 1) / chunks
                                : *std::max_element(s.layers_per_stage.begin(), s.layers_per_stage.end());
  Recompute& recompute = *s.recompute;
  const bool is_uniform = recompute.mode == RecomputeMode::uniform;
  if (!is_uniform && recompute.mode != RecomputeMode::block) return;
  recompute.n = static_cast<std::int32_t>(std::min<std::int64_t>(recompute.n, most));
  if (is_uniform && recompute.n == 1) recompute = {RecomputeMode::full};
}

void note_others(const Json& tree, std::vector<std::string>& notes) {
  if (tree.find("--rampup-batch-size") != nullptr)
    notes.emplace_back("--rampup-batch-size: the step is priced at the full batch");
}

/// torchrun starts one node where nobody says how many.
void take_one_node(const Json& said, Settings& s) {
  const auto has = [&](const char* flag) { return said.find(flag) != nullptr; };
  const bool is_torchrun = has("--nproc_per_node") || has("--nproc-per-node");
  if (is_torchrun && !has("--nnodes") && !has("--nodes") && !s.nodes) s.nodes = 1;
}

void take_steps(const Json& tree, Settings& s) {
  const Json* const samples = tree.find("--train-samples");
  if (s.recipe.steps || samples == nullptr || samples->if_integer() == nullptr) return;
  if (s.global_batch.value_or(0) > 0) s.recipe.steps = *samples->if_integer() / *s.global_batch;
}

/// The program of another network than a decoder's that the text starts; empty: none.
std::string other_program(std::string_view text) {
  for (const std::string_view program :
       {"pretrain_bert.py", "pretrain_t5.py", "pretrain_ict.py", "pretrain_retro.py", "pretrain_vision_classify.py",
        "pretrain_vision_dino.py", "pretrain_vision_inpaint.py", "pretrain_vlm.py", "pretrain_mamba.py",
        "pretrain_hybrid.py"}) {
    const std::size_t at = text.find(program);
    if (at == std::string_view::npos) continue;
    const std::size_t line = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
    if (text.substr(begin, at - begin).find('#') == std::string_view::npos) return std::string(program);
  }
  return "";
}

Imported read_command(std::string_view text, std::string_view name) {
  Imported imported;
  std::vector<std::string> notes;
  const Json said = read_arguments(text, name);
  require_known_key(flag_keys(), said, name);
  const Json tree = resolved(said, notes);
  Settings& s = imported.settings;
  imported.notes = read_tree(flag_keys(), tree, name, s);
  megatron::read_split(tree, s);
  take_defaults(tree, s);
  if (s.choices.overlap.empty()) s.choices.overlap = "none";  // both flags are off unless they are said
  megatron::clear_idle_overlap(s);
  note_others(tree, notes);
  take_steps(tree, s);
  take_one_node(said, s);
  megatron::ShapeConfig shape = megatron::shape_config(tree, s.tensor_parallel.value_or(1));
  if (const std::string program = other_program(text); program.empty())
    s.network_config = std::move(shape.config);
  else
    shape.notes = {"the network of " + program + " is not that of pretrain_gpt.py: say it with --model"};
  end_recompute_with_chunk(s);
  for (auto* const more : {&notes, &shape.notes})
    imported.notes.unread.insert(imported.notes.unread.end(), more->begin(), more->end());
  return imported;
}

}  // namespace

LaunchTarget megatron_lm_target() {
  return {.framework = Framework::megatron_lm,
          .title = "Megatron-LM arguments",
          .releases = megatron::releases(),
          .revision = "NVIDIA/Megatron-LM d98e8a64dd (2026-08-22)",
          .write = write_command,
          .read = read_command,
          .keys = flag_keys,
          .says_choice = megatron::says_choice};
}

}  // namespace plumbline
