#include "cli/strategy_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <span>

#include "cli/flag_values.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

std::int32_t degree(std::string_view flag, const std::optional<std::string>& text) {
  return text ? static_cast<std::int32_t>(whole_number(flag, *text, 1, most_devices)) : 1;
}

std::vector<std::int32_t> layers(std::string_view flag, std::string_view text) {
  std::vector<std::int32_t> counts;
  while (true) {
    const std::size_t end = text.find(',');
    counts.push_back(static_cast<std::int32_t>(whole_number(flag, std::string(text.substr(0, end)), 0, most_layers)));
    if (end == std::string_view::npos) return counts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void StrategyOptions::declare(CLI::App& app) {
  const auto option = [&](const char* flag, std::optional<std::string>& value, const char* type, const char* text) {
    return app.add_option(flag, value, text)->group("Strategy")->type_name(type);
  };
  const std::string schedules = alternatives(names_of(std::span(all_schedules).subspan(1)));  // not "none"
  option("--tp", tp_, "N", "tensor-parallel ranks (1)");
  option("--pp", pp_, "N", "pipeline stages (1)");
  option("--dp", dp_, "N", "data-parallel ranks (the GPUs that the other degrees leave)");
  option("--cp", cp_, "N", "context-parallel ranks (1)");
  option("--ep", ep_, "N", "expert-parallel ranks (1)");
  option("--etp", etp_, "N", "tensor-parallel ranks inside an expert (1)");
  option("--virtual-stages", virtual_stages_, "N", "chunks of layers on each pipeline rank (1)");
  option("--zero", zero_, "0|1|2|3", "ZeRO stage; 3 is FSDP (0)");
  option("--shard-group", shard_group_, "N", "ranks that share one copy of the sharded states (all)");
  option("--schedule", schedule_, schedules.c_str(),
         "of the pipeline (1f1b; interleaved with virtual stages); a search takes the first three, others by --fix");
  option("--micro-batch", micro_batch_, "N", "sequences of one micro-batch (1)");
  option("--recompute", recompute_, "none|selective[:MODULE+...]|full|every:N|by-operator|offload:N|optimal",
         "what the backward pass computes again (none); optimal: the least that fits");
  option("--split", split_, "even|balanced", "which layers a pipeline stage holds (even); balanced: the fastest split");
  option("--layers-per-stage", layers_per_stage_, "N,N,...", "the same by hand, a number for each pipeline chunk");
  option("--sequence-parallel", sequence_parallel_, "on|off", "with tensor parallelism (off; on without a value)")
      ->expected(0, 1);
  option("--flash-attention", flash_attention_, "on|off", "fused attention kernels (on)")->expected(0, 1);
}

PartialStrategy StrategyOptions::strategy() const {
  PartialStrategy partial;
  Strategy& s = partial.strategy;
  s.tensor_parallel = degree("--tp", tp_);
  s.pipeline_stages = degree("--pp", pp_);
  s.data_parallel = degree("--dp", dp_);
  s.context_parallel = degree("--cp", cp_);
  s.expert_parallel = degree("--ep", ep_);
  s.expert_tensor_parallel = degree("--etp", etp_);
  s.virtual_stages = degree("--virtual-stages", virtual_stages_);
  s.shard_group = degree("--shard-group", shard_group_);
  if (zero_) s.zero_stage = static_cast<std::int32_t>(whole_number("--zero", *zero_, 0, 3));
  if (schedule_) s.schedule = choice_of("--schedule", *schedule_, all_schedules, schedule_from_text);
  if (micro_batch_) s.micro_batch = whole_number("--micro-batch", *micro_batch_, 1, largest_global_batch);
  if (recompute_) {
    const auto recompute = recompute_from_text(*recompute_);
    if (!recompute)
      refuse_choice(
          "--recompute", *recompute_,
          {"none", "selective", "selective:MODULE+...", "full", "every:N", "by-operator", "offload:N", "optimal"});
    s.recompute = *recompute;
  }
  if (split_) s.split = choice_of("--split", *split_, all_stage_splits, stage_split_from_text);
  if (layers_per_stage_) s.layers_per_stage = layers("--layers-per-stage", *layers_per_stage_);
  if (sequence_parallel_ && on_or_off("--sequence-parallel", *sequence_parallel_))
    s.sequence_parallel = SequenceParallel::on;
  if (flash_attention_ && !on_or_off("--flash-attention", *flash_attention_)) s.flash_attention = FlashAttention::off;
  partial.data_parallel_given = dp_.has_value();
  partial.schedule_given = schedule_.has_value();
  partial.shard_group_given = shard_group_.has_value();
  return partial;
}

std::string StrategyOptions::given() const {
  const std::array<std::pair<const char*, const std::optional<std::string>*>, 16> flags{
      {{"--tp", &tp_},
       {"--pp", &pp_},
       {"--dp", &dp_},
       {"--cp", &cp_},
       {"--ep", &ep_},
       {"--etp", &etp_},
       {"--virtual-stages", &virtual_stages_},
       {"--zero", &zero_},
       {"--shard-group", &shard_group_},
       {"--schedule", &schedule_},
       {"--micro-batch", &micro_batch_},
       {"--recompute", &recompute_},
       {"--split", &split_},
       {"--layers-per-stage", &layers_per_stage_},
       {"--sequence-parallel", &sequence_parallel_},
       {"--flash-attention", &flash_attention_}}};
  for (const auto& [flag, value] : flags)
    if (*value) return flag;
  return "";
}

}  // namespace plumbline
