#include "core/plan/strategy_axes.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include "core/base/errors.h"
#include "core/base/joined.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

template <auto Member>
struct MemberOf {};

template <auto Member>
StrategyAxis of_member(AxisKind kind) {
  StrategyAxis axis;
  axis.kind = kind;
#define PLUMBLINE_AXIS(MEMBER, PRICED_IN)                              \
  if (std::is_same_v<MemberOf<Member>, MemberOf<&Strategy::MEMBER>>) { \
    axis.member = #MEMBER;                                             \
    axis.priced_in = PricedIn::PRICED_IN;                              \
  }
  PLUMBLINE_STRATEGY_AXES(PLUMBLINE_AXIS)
#undef PLUMBLINE_AXIS
  return axis;
}

template <auto Member>
StrategyAxis with_values(AxisKind kind) {
  using Value = std::remove_cvref_t<decltype(Strategy{}.*Member)>;
  StrategyAxis axis = of_member<Member>(kind);
  axis.get = [](const Strategy& s) { return static_cast<std::int64_t>(s.*Member); };
  axis.set = [](Strategy& s, std::int64_t value) { s.*Member = static_cast<Value>(value); };
  return axis;
}

template <auto Member>
StrategyAxis number(std::int64_t least, std::int64_t most) {
  StrategyAxis axis = with_values<Member>(AxisKind::number);
  axis.values = "N";
  axis.least = least;
  axis.most = most;
  return axis;
}

template <auto Member>
StrategyAxis degree() {
  return number<Member>(1, most_devices);
}

/// `On`: the value of the enumeration that is called so; the other one is off.
template <auto Member, auto On, auto Off>
StrategyAxis toggle() {
  StrategyAxis axis = of_member<Member>(AxisKind::toggle);
  axis.values = "on|off";
  axis.get = [](const Strategy& s) { return std::int64_t{s.*Member == On}; };
  axis.set = [](Strategy& s, std::int64_t value) { s.*Member = value == 0 ? Off : On; };
  return axis;
}

template <auto Member>
StrategyAxis choice(const auto& all) {
  StrategyAxis axis = with_values<Member>(AxisKind::choice);
  for (const auto value : all) axis.names.emplace_back(to_text(value));
  axis.values = joined(axis.names, "|");
  return axis;
}

bool has_tensor_ranks(const Strategy& s) { return s.tensor_parallel > 1; }
bool divides_sequences(const Strategy& s) { return s.context_parallel > 1; }
bool has_pipeline(const Strategy& s) { return s.pipeline_stages > 1; }
bool shards(const Strategy& s) { return s.zero_stage > 0; }
bool shards_weights(const Strategy& s) { return s.zero_stage == 3; }
bool is_whole(const Strategy& s) { return s.zero_stage == 0 || s.shard_group == s.gradient_ranks(); }

/// 1F1B becomes interleaved with its second virtual stage, and the other way round.
bool is_named_by_virtual_stages(const Strategy& before, const Strategy& after) {
  const auto is_one = [](Schedule s) { return s == Schedule::one_f_one_b || s == Schedule::interleaved; };
  return before.virtual_stages != after.virtual_stages && is_one(before.schedule) && is_one(after.schedule);
}

bool schedule_follows(const Strategy& before, const Strategy& after) {
  const bool is_first = !has_pipeline(before) && has_pipeline(after);
  return !has_pipeline(after) || (is_first && after.schedule == Schedule::one_f_one_b) ||
         is_named_by_virtual_stages(before, after);
}

/// Collects rows: the words of an axis, then what is unusual about it.
class AxisRows {
 public:
  struct Words {
    const char* flag;
    const char* key;
    const char* change;
    const char* help;
    std::vector<std::string_view> foreign{};
  };
  /// See StrategyAxis::file_place and change_place; 0: no change names it.
  struct Places {
    int file = 0;
    int change = 0;
  };
  StrategyAxis& add(StrategyAxis axis, const Words& words) {
    axis.flag = words.flag;
    axis.key = words.key;
    axis.change = words.change;
    axis.help = words.help;
    axis.foreign = words.foreign;
    return rows_.emplace_back(std::move(axis));
  }
  /// Of axes that plan files have held from the first: their keys keep the order in which they were written.
  StrategyAxis& add_first(Places places, StrategyAxis axis, const Words& words) {
    StrategyAxis& row = add(std::move(axis), words);
    row.in_files = InFiles::required;
    row.in_search = InSearch::by_rule;
    row.file_place = places.file;
    row.change_place = places.change;
    return row;
  }
  [[nodiscard]] std::vector<StrategyAxis> take() { return std::move(rows_); }

 private:
  std::vector<StrategyAxis> rows_;
};

void add_degrees(AxisRows& rows) {
  rows.add_first({.file = 2, .change = 1}, degree<&Strategy::tensor_parallel>(),
                 {"--tp",
                  "tensor_parallel",
                  "tp",
                  "tensor-parallel ranks (1)",
                  {"--tensor-parallel", "--tensor-parallel-size", "--tensor-model-parallel-size", "--tp-size",
                   "--tensor-parallel-degree", "--autotp-size"}});
  rows.add_first({.file = 4, .change = 3}, degree<&Strategy::pipeline_stages>(),
                 {"--pp",
                  "pipeline_stages",
                  "pp",
                  "pipeline stages (1)",
                  {"--pipeline-parallel", "--pipeline-stages", "--pipeline-model-parallel-size", "--pp-size",
                   "--pipeline-parallel-degree", "--pipeline-parallel-size"}});
  rows.add_first({.file = 6, .change = 7}, degree<&Strategy::context_parallel>(),
                 {"--cp",
                  "context_parallel",
                  "cp",
                  "context-parallel ranks (1)",
                  {"--context-parallel", "--context-parallel-size", "--cp-size", "--context-parallel-degree",
                   "--sequence-parallel-size", "--ulysses"}});
  StrategyAxis& exchange =
      rows.add(choice<&Strategy::context_communication>(all_context_communications),
               {"--cp-comm",
                "cp_comm",
                "context communication",
                "how they attend to all tokens (ring); all-to-all scatters heads, as DeepSpeed Ulysses",
                {"--cp-comm-type"}});
  exchange.change_place = 8;
  exchange.applies = divides_sequences;
  exchange.follows = [](const Strategy& a, const Strategy& b) {
    return !divides_sequences(a) || !divides_sequences(b);
  };
  rows.add_first({.file = 7, .change = 9}, degree<&Strategy::expert_parallel>(),
                 {"--ep",
                  "expert_parallel",
                  "ep",
                  "expert-parallel ranks (1)",
                  {"--expert-parallel", "--expert-model-parallel-size", "--ep-size", "--expert-parallel-degree"}});
  rows.add_first({.file = 8, .change = 10}, degree<&Strategy::expert_tensor_parallel>(),
                 {"--etp",
                  "expert_tensor_parallel",
                  "etp",
                  "tensor-parallel ranks inside an expert (1)",
                  {"--expert-tensor-parallel-size", "--expert-tensor-parallel-degree"}})
      .in_files = InFiles::always;
  rows.add_first({.file = 1, .change = 11}, degree<&Strategy::data_parallel>(),
                 {"--dp",
                  "data_parallel",
                  "dp",
                  "data-parallel ranks (the GPUs that the other degrees leave)",
                  {"--data-parallel", "--data-parallel-size", "--dp-size", "--data-parallel-replicate-degree"}})
      .follows = [](const Strategy&, const Strategy&) { return true; };
}

void add_pipeline(AxisRows& rows) {
  rows.add_first(
          {.file = 5, .change = 5}, degree<&Strategy::virtual_stages>(),
          {"--virtual-stages",
           "virtual_stages",
           "virtual stages",
           "chunks of layers on each pipeline rank (1)",
           {"--vs", "--vpp", "--virtual-pipeline-model-parallel-size", "--num-virtual-stages-per-pipeline-rank"}})
      .follows = [](const Strategy&, const Strategy& after) { return !has_pipeline(after); };
  StrategyAxis& schedule = rows.add_first(
      {.file = 11, .change = 4}, choice<&Strategy::schedule>(all_schedules),
      {"--schedule",
       "schedule",
       "schedule",
       "of the pipeline (1f1b; interleaved with virtual stages); a search takes the first three, others by --fix",
       {"--pipeline-schedule", "--pipeline-parallel-schedule"}});
  schedule.values = joined(std::span(schedule.names).subspan(1), "|");  // not "none"
  schedule.applies = has_pipeline;
  schedule.follows = schedule_follows;
}

void add_micro_batches(AxisRows& rows) {
  rows.add_first({.file = 12, .change = 12}, number<&Strategy::micro_batch>(1, largest_global_batch),
                 {"--micro-batch",
                  "micro_batch",
                  "micro-batch",
                  "sequences of one micro-batch (1)",
                  {"--mbs", "--micro-batch-size", "--per-device-train-batch-size", "--train-micro-batch-size-per-gpu",
                   "--local-batch-size", "--micro-bs"}});
  rows.add_first({.file = 13, .change = 0}, number<&Strategy::micro_batches>(1, largest_global_batch),
                 {"", "micro_batches", "", ""});
}

void add_sharding(AxisRows& rows) {
  StrategyAxis& stage = rows.add_first(
      {.file = 9, .change = 13}, number<&Strategy::zero_stage>(0, 3),
      {"--zero",
       "zero_stage",
       "ZeRO",
       "ZeRO stage; 3 is FSDP (0)",
       {"--zero-stage", "--fsdp", "--fully-shard", "--sharding-strategy", "--use-distributed-optimizer"}});
  stage.values = "0|1|2|3";
  stage.follows = [](const Strategy&, const Strategy& after) { return after.gradient_ranks() == 1; };
  StrategyAxis& group =
      rows.add_first({.file = 10, .change = 14}, degree<&Strategy::shard_group>(),
                     {"--shard-group",
                      "shard_group",
                      "shard group",
                      "ranks that share one copy of the sharded states (all)",
                      {"--data-parallel-shard-degree", "--hsdp", "--num-distributed-optimizer-instances"}});
  group.applies = shards;
  group.follows = [](const Strategy& a, const Strategy& b) { return is_whole(a) && is_whole(b); };
  StrategyAxis& prefetch =
      rows.add(toggle<&Strategy::prefetch, ParameterPrefetch::on, ParameterPrefetch::off>(),
               {"--prefetch", "prefetch", "prefetch", "ZeRO-3: gather a unit alongside the one before it (on)"});
  prefetch.change_place = 15;
  prefetch.applies = shards_weights;
  prefetch.detail_of = "--zero";
  prefetch.summary = [](const Strategy&) { return std::string("no prefetch"); };
  StrategyAxis& unit = rows.add(
      number<&Strategy::layers_per_unit>(1, most_layers),
      {"--layers-per-unit", "layers_per_unit", "layers per unit", "ZeRO-3: layers gathered and reduced at once (1)"});
  unit.change_place = 16;
  unit.applies = shards_weights;
  unit.detail_of = "--zero";
  unit.summary = [](const Strategy& s) { return "units of " + std::to_string(s.layers_per_unit) + " layers"; };
}

void add_kernels(AxisRows& rows) {
  StrategyAxis& sequence = rows.add_first(
      {.file = 3, .change = 2}, toggle<&Strategy::sequence_parallel, SequenceParallel::on, SequenceParallel::off>(),
      {"--sequence-parallel",
       "sequence_parallel",
       "sequence parallelism",
       "with tensor parallelism (off; on without a value)",
       {"--sp", "--enable-sequence-parallel"}});
  sequence.applies = has_tensor_ranks;
  sequence.follows = [](const Strategy& a, const Strategy& b) { return !has_tensor_ranks(a) || !has_tensor_ranks(b); };
  StrategyAxis& flash = rows.add_first({.file = StrategyAxis::recipe_place + 1, .change = 18},
                                       toggle<&Strategy::flash_attention, FlashAttention::on, FlashAttention::off>(),
                                       {"--flash-attention",
                                        "flash_attention",
                                        "flash attention",
                                        "fused attention kernels (on)",
                                        {"--flash-attn", "--use-flash-attn", "--attn-implementation"}});
  flash.in_search = InSearch::listed;
  flash.is_of_question = true;
}

std::string split_or_layers(const Strategy& s) {
  return s.layers_per_stage.empty() ? std::string(to_text(s.split)) : layers_text(s.layers_per_stage);
}

void add_layers(AxisRows& rows) {
  StrategyAxis recompute = of_member<&Strategy::recompute>(AxisKind::recompute);
  recompute.values = recompute_names_text("|");
  rows.add_first({.file = 14, .change = 17}, std::move(recompute),
                 {"--recompute",
                  "recompute",
                  "recompute",
                  "what the backward pass computes again (none); optimal: the least that fits",
                  {"--recompute-granularity", "--recompute-activations", "--activation-checkpointing",
                   "--gradient-checkpointing", "--activation-checkpoint-mode"}});
  StrategyAxis layers;
  layers.kind = AxisKind::layers;
  layers.values = "N,N,...";
  layers.least = 0;
  layers.most = most_layers;
  rows.add_first({.file = 16, .change = 0}, std::move(layers),
                 {"--layers-per-stage",
                  "layers_per_stage",
                  "",
                  "layers of each pipeline chunk by hand, a number for each",
                  {"--pipeline-model-parallel-layout"}})
      .in_files = InFiles::always;
  StrategyAxis& split = rows.add_first(
      {.file = 15, .change = 6}, choice<&Strategy::split>(all_stage_splits),
      {"--split", "split", "split", "which layers a pipeline stage holds (even); balanced: the fastest split"});
  split.in_files = InFiles::always;
  split.follows = [](const Strategy& before, const Strategy& after) { return before.chunks() != after.chunks(); };
  split.change_text = split_or_layers;
}

std::vector<StrategyAxis> make_axes() {
  AxisRows rows;
  add_degrees(rows);
  add_pipeline(rows);
  add_micro_batches(rows);
  add_sharding(rows);
  add_kernels(rows);
  add_layers(rows);
  return rows.take();
}

}  // namespace

std::string StrategyAxis::text(const Strategy& s) const {
  switch (kind) {
    case AxisKind::number: return std::to_string(get(s));
    case AxisKind::toggle: return get(s) == 0 ? "off" : "on";
    case AxisKind::choice: return names[static_cast<std::size_t>(get(s))];
    case AxisKind::recompute: return to_text(s.recompute);
    case AxisKind::layers: return layers_text(s.layers_per_stage);
  }
  return "";
}

std::vector<std::int64_t> StrategyAxis::neighbours(const Strategy& strategy) const {
  const std::int64_t value = get(strategy);
  if (kind == AxisKind::toggle) return {1 - value};
  std::vector<std::int64_t> near;
  for (const std::int64_t one : {2 * value, value / 2})
    if (one != value && one >= least && one <= most) near.push_back(one);
  return near;
}

const std::vector<StrategyAxis>& strategy_axes() {
  static const std::vector<StrategyAxis> axes = make_axes();
  return axes;
}

std::vector<const StrategyAxis*> strategy_axes_by(int StrategyAxis::*place) {
  std::vector<const StrategyAxis*> sorted;
  for (const StrategyAxis& axis : strategy_axes()) sorted.push_back(&axis);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const StrategyAxis* a, const StrategyAxis* b) { return a->*place < b->*place; });
  return sorted;
}

std::vector<const StrategyAxis*> details_of(std::string_view flag) {
  std::vector<const StrategyAxis*> details;
  for (const StrategyAxis& axis : strategy_axes())
    if (axis.detail_of == flag) details.push_back(&axis);
  return details;
}

void reset_details(std::string_view flag, Strategy& strategy) {
  for (const StrategyAxis* axis : details_of(flag)) axis->set(strategy, axis->get(Strategy{}));
}

const StrategyAxis& strategy_axis(std::string_view flag) {
  const auto found = std::find_if(strategy_axes().begin(), strategy_axes().end(),
                                  [&](const StrategyAxis& axis) { return axis.flag == flag; });
  check(found != strategy_axes().end(), "a strategy has the axis");
  return *found;
}

}  // namespace plumbline
