#include "core/plan/strategy.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/found_by_name.h"
#include "core/plan/strategy_axes.h"

namespace plumbline {

std::optional<Schedule> schedule_from_text(std::string_view text) { return value_named(all_schedules, text); }

std::string_view to_text(RecomputeModule module) {
  switch (module) {
    case RecomputeModule::core_attn: return "core_attn";
    case RecomputeModule::moe_act: return "moe_act";
    case RecomputeModule::layernorm: return "layernorm";
    case RecomputeModule::mla_up_proj: return "mla_up_proj";
    case RecomputeModule::mlp: return "mlp";
    case RecomputeModule::moe: return "moe";
    case RecomputeModule::shared_experts: return "shared_experts";
  }
  return "";
}

namespace {

constexpr std::string_view selective_modules = "selective:";

std::string modules_text(const RecomputeModules& modules) {
  std::string text;
  for (const RecomputeModule module : all_recompute_modules)
    if (modules.has(module)) text += (text.empty() ? "" : "+") + std::string(to_text(module));
  return text;
}

std::optional<Recompute> modules_from_text(std::string_view text) {
  Recompute recompute{RecomputeMode::modules, 1, {}};
  while (true) {
    const std::size_t end = text.find('+');
    const std::string_view name = text.substr(0, end);
    const auto* module = std::find_if(all_recompute_modules.begin(), all_recompute_modules.end(),
                                      [&](RecomputeModule m) { return to_text(m) == name; });
    if (module == all_recompute_modules.end()) return std::nullopt;
    recompute.modules.add(*module);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  RecomputeModules core;
  core.add(RecomputeModule::core_attn);
  return recompute.modules == core ? Recompute{RecomputeMode::selective, 1} : recompute;
}

/// Whether a number follows it.
bool is_counted(std::string_view name) { return name.ends_with(":N"); }

}  // namespace

std::string_view name_of(RecomputeMode mode) {
  return std::find_if(recompute_names.begin(), recompute_names.end(),
                      [&](const RecomputeName& n) { return n.mode == mode; })
      ->text;
}

std::string recompute_names_text(std::string_view between) {
  std::string text;
  for (const RecomputeName& name : recompute_names) (text += text.empty() ? std::string_view() : between) += name.text;
  return text;
}

std::string to_text(Recompute recompute) {
  const std::string_view name = name_of(recompute.mode);
  if (recompute.mode == RecomputeMode::modules) return std::string(selective_modules) + modules_text(recompute.modules);
  if (!is_counted(name)) return std::string(name);
  return std::string(name.substr(0, name.size() - 1)) + std::to_string(recompute.n);
}

std::optional<Recompute> recompute_from_text(std::string_view text) {
  if (text.starts_with(selective_modules)) return modules_from_text(text.substr(selective_modules.size()));
  for (const RecomputeName& name : recompute_names) {
    if (text == name.text && !is_counted(name.text)) return Recompute{name.mode};
    const std::string_view prefix = name.text.substr(0, name.text.size() - 1);
    if (!is_counted(name.text) || !text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    std::int32_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || end != text.data() + text.size() || n < 1) return std::nullopt;
    const bool is_full = n == 1 && (name.mode == RecomputeMode::every_nth || name.mode == RecomputeMode::uniform);
    return is_full ? Recompute{RecomputeMode::full} : Recompute{name.mode, n};
  }
  return std::nullopt;
}

Recompute of_chunks(Recompute recompute, std::int64_t layers) {
  if (recompute.mode != RecomputeMode::square_root) return recompute;
  const auto n = static_cast<std::int32_t>(std::lround(std::sqrt(static_cast<double>(layers))));
  return n < 2 ? Recompute{RecomputeMode::full} : Recompute{RecomputeMode::uniform, n};
}

std::string_view to_text(StageSplit split) { return split == StageSplit::even ? "even" : "balanced"; }

std::optional<StageSplit> stage_split_from_text(std::string_view text) { return value_named(all_stage_splits, text); }

std::string_view to_text(ContextCommunication communication) {
  return communication == ContextCommunication::ring ? "ring" : "all-to-all";
}

std::optional<ContextCommunication> context_communication_from_text(std::string_view text) {
  return value_named(all_context_communications, text);
}

std::string layers_text(const std::vector<std::int32_t>& layers) {
  std::string text;
  for (const std::int32_t count : layers) text += (text.empty() ? "" : ",") + std::to_string(count);
  return text;
}

std::string zero_text(const Strategy& s) {
  return std::to_string(s.zero_stage) + (s.is_hybrid() ? "/" + std::to_string(s.shard_group) : "");
}

std::string to_text(const Strategy& s) {
  const auto degree = [](std::string_view name, std::int64_t value) {
    return value == 1 ? std::string() : std::string(name) + " " + std::to_string(value) + " ";
  };
  std::string text = degree("tp", s.tensor_parallel) + degree("cp", s.context_parallel) +
                     (s.context_communication == ContextCommunication::ring ? "" : "all-to-all ") +
                     degree("ep", s.expert_parallel) + degree("etp", s.expert_tensor_parallel) +
                     degree("pp", s.pipeline_stages) + degree("dp", s.data_parallel);
  if (s.sequence_parallel == SequenceParallel::on) text += "sp ";
  if (s.schedule != Schedule::none) text += std::string(to_text(s.schedule)) + " ";
  text += degree("virtual", s.virtual_stages);
  text += "mbs " + std::to_string(s.micro_batch) + " x " + std::to_string(s.micro_batches);
  if (s.zero_stage > 0) text += " zero-" + zero_text(s);
  for (const StrategyAxis* detail : details_of("--zero"))
    if (!detail->is_usual(s)) text += " " + detail->summary(s);
  if (s.recompute.mode != RecomputeMode::none) text += " recompute " + to_text(s.recompute);
  if (s.split != StageSplit::even) text += " split " + std::string(to_text(s.split));
  if (!s.layers_per_stage.empty()) text += " layers " + layers_text(s.layers_per_stage);
  return text;
}

}  // namespace plumbline
