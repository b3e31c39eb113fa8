#include "planner/session/strategy_flags.h"

#include <array>

#include "core/training/limits.h"
#include "planner/question/value_text.h"

namespace plumbline::session {
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

std::vector<std::string> recompute_texts() {
  std::vector<std::string> texts;
  for (const RecomputeName& name : recompute_names) texts.emplace_back(name.text);
  return texts;
}

}  // namespace

PartialStrategy StrategyFlags::strategy() const {
  PartialStrategy partial;
  Strategy& s = partial.strategy;
  s.tensor_parallel = degree("--tp", tp);
  s.pipeline_stages = degree("--pp", pp);
  s.data_parallel = degree("--dp", dp);
  s.context_parallel = degree("--cp", cp);
  if (context_communication)
    s.context_communication =
        choice_of("--cp-comm", *context_communication, all_context_communications, context_communication_from_text);
  s.expert_parallel = degree("--ep", ep);
  s.expert_tensor_parallel = degree("--etp", etp);
  s.virtual_stages = degree("--virtual-stages", virtual_stages);
  s.shard_group = degree("--shard-group", shard_group);
  if (zero) s.zero_stage = static_cast<std::int32_t>(whole_number("--zero", *zero, 0, 3));
  if (schedule) s.schedule = choice_of("--schedule", *schedule, all_schedules, schedule_from_text);
  if (micro_batch) s.micro_batch = whole_number("--micro-batch", *micro_batch, 1, largest_global_batch);
  if (recompute) {
    const auto found = recompute_from_text(*recompute);
    if (!found) refuse_choice("--recompute", *recompute, recompute_texts());
    s.recompute = *found;
  }
  if (split) s.split = choice_of("--split", *split, all_stage_splits, stage_split_from_text);
  if (layers_per_stage) s.layers_per_stage = layers("--layers-per-stage", *layers_per_stage);
  if (sequence_parallel && on_or_off("--sequence-parallel", *sequence_parallel))
    s.sequence_parallel = SequenceParallel::on;
  if (flash_attention && !on_or_off("--flash-attention", *flash_attention)) s.flash_attention = FlashAttention::off;
  if (prefetch && !on_or_off("--prefetch", *prefetch)) s.prefetch = ParameterPrefetch::off;
  if (layers_per_unit)
    s.layers_per_unit = static_cast<std::int32_t>(whole_number("--layers-per-unit", *layers_per_unit, 1, most_layers));
  partial.data_parallel_given = dp.has_value();
  partial.schedule_given = schedule.has_value();
  partial.shard_group_given = shard_group.has_value();
  partial.flash_attention_given = flash_attention.has_value();
  return partial;
}

std::string StrategyFlags::given_with_import() const {
  StrategyFlags others = *this;
  others.flash_attention.reset();
  return others.given();
}

std::string StrategyFlags::given() const {
  const std::array<std::pair<const char*, const std::optional<std::string>*>, 19> flags{
      {{"--tp", &tp},
       {"--pp", &pp},
       {"--dp", &dp},
       {"--cp", &cp},
       {"--cp-comm", &context_communication},
       {"--ep", &ep},
       {"--etp", &etp},
       {"--virtual-stages", &virtual_stages},
       {"--zero", &zero},
       {"--shard-group", &shard_group},
       {"--prefetch", &prefetch},
       {"--layers-per-unit", &layers_per_unit},
       {"--schedule", &schedule},
       {"--micro-batch", &micro_batch},
       {"--recompute", &recompute},
       {"--split", &split},
       {"--layers-per-stage", &layers_per_stage},
       {"--sequence-parallel", &sequence_parallel},
       {"--flash-attention", &flash_attention}}};
  for (const auto& [flag, value] : flags)
    if (*value) return flag;
  return "";
}

}  // namespace plumbline::session
