#include "planner/explain/strategy_changes.h"

namespace plumbline {
namespace {

class Differences {
 public:
  void add(const char* choice, std::string before, std::string after, bool follows = false) {
    if (before != after) found_.push_back({choice, std::move(before), std::move(after), follows});
  }
  void add(const char* choice, std::int64_t before, std::int64_t after, bool follows = false) {
    add(choice, std::to_string(before), std::to_string(after), follows);
  }
  void add_switch(const char* choice, bool before, bool after, bool follows = false) {
    add(choice, std::string(before ? "on" : "off"), after ? "on" : "off", follows);
  }
  [[nodiscard]] std::vector<StrategyChange> take() { return std::move(found_); }

 private:
  std::vector<StrategyChange> found_;
};

bool is_whole(const Strategy& s) { return s.zero_stage == 0 || s.shard_group == s.gradient_ranks(); }

std::string split_text(const Strategy& s) {
  return s.layers_per_stage.empty() ? std::string(to_text(s.split)) : layers_text(s.layers_per_stage);
}

std::string schedule_text(const Strategy& s) { return std::string(to_text(s.schedule)); }

/// 1F1B becomes interleaved with its second virtual stage, and the other way round.
bool is_named_by_virtual_stages(const Strategy& before, const Strategy& after) {
  const auto is_one = [](Schedule s) { return s == Schedule::one_f_one_b || s == Schedule::interleaved; };
  return before.virtual_stages != after.virtual_stages && is_one(before.schedule) && is_one(after.schedule);
}

void add_pipeline(Differences& found, const Strategy& before, const Strategy& after) {
  const bool is_new = before.pipeline_stages == 1 && after.pipeline_stages > 1;
  const bool is_gone = after.pipeline_stages == 1;
  found.add(
      "schedule", schedule_text(before), schedule_text(after),
      is_gone || (is_new && after.schedule == Schedule::one_f_one_b) || is_named_by_virtual_stages(before, after));
  found.add("virtual stages", before.virtual_stages, after.virtual_stages, is_gone);
  found.add("split", split_text(before), split_text(after), before.chunks() != after.chunks());
}

/// Sequence parallelism that comes with the first tensor-parallel ranks: two changes of tp may differ in it alone.
bool is_choice_of_first_tensor_ranks(const StrategyChange& one) {
  return one.choice == "sequence parallelism" && one.after == "on";
}

}  // namespace

std::vector<StrategyChange> changes_between(const Strategy& before, const Strategy& after) {
  Differences found;
  found.add("tp", before.tensor_parallel, after.tensor_parallel);
  found.add_switch("sequence parallelism", before.sequence_parallel == SequenceParallel::on,
                   after.sequence_parallel == SequenceParallel::on,
                   before.tensor_parallel == 1 || after.tensor_parallel == 1);
  found.add("pp", before.pipeline_stages, after.pipeline_stages);
  add_pipeline(found, before, after);
  found.add("cp", before.context_parallel, after.context_parallel);
  found.add("context communication", std::string(to_text(before.context_communication)),
            std::string(to_text(after.context_communication)),
            before.context_parallel == 1 || after.context_parallel == 1);
  found.add("ep", before.expert_parallel, after.expert_parallel);
  found.add("etp", before.expert_tensor_parallel, after.expert_tensor_parallel);
  found.add("dp", before.data_parallel, after.data_parallel, true);
  found.add("micro-batch", before.micro_batch, after.micro_batch);
  found.add("ZeRO", before.zero_stage, after.zero_stage, after.gradient_ranks() == 1);
  found.add("shard group", before.shard_group, after.shard_group, is_whole(before) && is_whole(after));
  found.add_switch("prefetch", before.prefetch == ParameterPrefetch::on, after.prefetch == ParameterPrefetch::on);
  found.add("layers per unit", before.layers_per_unit, after.layers_per_unit);
  found.add("recompute", to_text(before.recompute), to_text(after.recompute));
  found.add_switch("flash attention", before.flash_attention == FlashAttention::on,
                   after.flash_attention == FlashAttention::on);
  return found.take();
}

std::string to_text(const std::vector<StrategyChange>& changes) {
  std::string text;
  for (const StrategyChange& one : changes)
    text += (text.empty() ? "" : ", ") + one.choice + " " + one.before + " -> " + one.after;
  return text;
}

std::vector<std::string> chosen_steps(const std::vector<StrategyChange>& changes) {
  std::vector<std::string> steps;
  for (const StrategyChange& one : changes)
    if (!one.follows)
      steps.push_back(one.choice + " " + one.before + " -> " + one.after);
    else if (is_choice_of_first_tensor_ranks(one) && !steps.empty())
      steps.back() += " with sequence parallelism";
  return steps;
}

}  // namespace plumbline
