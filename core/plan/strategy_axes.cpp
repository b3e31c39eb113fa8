#include "core/plan/strategy_axes.h"

#include <span>
#include <type_traits>
#include <utility>

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
  /// See the members of StrategyAxis that are called so.
  struct Words {
    const char* flag;
    const char* key;
    const char* change;
    const char* help = "";  ///< empty: the meaning with the usual value
    std::vector<std::string_view> foreign{};
    const char* meaning = "";
    const char* examples = "";
    const char* column = "";
    const char* caption = "";
    const char* in_schema = "";
  };
  /// Likewise; 0: no change, column or field names it.
  struct Places {
    int file = 0;
    int change = 0;
    int column = 0;
    int form = 0;
  };
  StrategyAxis& add(StrategyAxis axis, const Words& words) {
    axis.flag = words.flag;
    axis.key = words.key;
    axis.change = words.change;
    axis.foreign = words.foreign;
    axis.meaning = words.meaning;
    axis.help = words.help;
    if (axis.help.empty() && !axis.meaning.empty()) axis.help = axis.meaning + " (" + axis.text({}) + ")";
    axis.examples = words.examples;
    axis.column = words.column;
    axis.caption = words.caption;
    axis.in_schema = words.in_schema;
    return rows_.emplace_back(std::move(axis));
  }
  /// Of axes that plan files have held from the first: their keys keep the order in which they were written.
  StrategyAxis& add_first(Places places, StrategyAxis axis, const Words& words) {
    StrategyAxis& row = add(std::move(axis), words);
    row.in_files = InFiles::required;
    row.in_search = InSearch::by_rule;
    row.in_tables = InTables::always;
    row.file_place = places.file;
    row.change_place = places.change;
    row.column_place = places.column;
    row.form_place = places.form;
    return row;
  }
  [[nodiscard]] std::vector<StrategyAxis> take() { return std::move(rows_); }

 private:
  std::vector<StrategyAxis> rows_;
};

void add_degrees(AxisRows& rows) {
  rows.add_first({.file = 2, .change = 1, .column = 1, .form = 1}, degree<&Strategy::tensor_parallel>(),
                 {.flag = "--tp",
                  .key = "tensor_parallel",
                  .change = "tp",
                  .foreign = {"--tensor-parallel", "--tensor-parallel-size", "--tensor-model-parallel-size",
                              "--tp-size", "--tensor-parallel-degree", "--autotp-size"},
                  .meaning = "tensor-parallel ranks",
                  .column = "tp",
                  .caption = "TP"});
  rows.add_first({.file = 4, .change = 3, .column = 7, .form = 2}, degree<&Strategy::pipeline_stages>(),
                 {.flag = "--pp",
                  .key = "pipeline_stages",
                  .change = "pp",
                  .foreign = {"--pipeline-parallel", "--pipeline-stages", "--pipeline-model-parallel-size", "--pp-size",
                              "--pipeline-parallel-degree", "--pipeline-parallel-size"},
                  .meaning = "pipeline stages",
                  .column = "pp",
                  .caption = "PP"});
  rows.add_first({.file = 6, .change = 7, .column = 3, .form = 4}, degree<&Strategy::context_parallel>(),
                 {.flag = "--cp",
                  .key = "context_parallel",
                  .change = "cp",
                  .foreign = {"--context-parallel", "--context-parallel-size", "--cp-size", "--context-parallel-degree",
                              "--sequence-parallel-size", "--ulysses"},
                  .meaning = "context-parallel ranks",
                  .column = "cp",
                  .caption = "CP"})
      .in_tables = InTables::where_unusual;
  StrategyAxis& exchange =
      rows.add(choice<&Strategy::context_communication>(all_context_communications),
               {.flag = "--cp-comm",
                .key = "cp_comm",
                .change = "context communication",
                .help = "how they attend to all tokens (ring); all-to-all scatters heads, as DeepSpeed Ulysses",
                .foreign = {"--cp-comm-type"},
                .meaning = "how context-parallel ranks attend to all tokens",
                .examples = ": ring, all-to-all or both",
                .column = "cp comm",
                .caption = "CP by",
                .in_schema = "how context-parallel ranks attend to all tokens; absent: ring"});
  exchange.in_tables = InTables::where_unusual;
  exchange.change_place = 8;
  exchange.column_place = 4;
  exchange.form_place = 5;
  exchange.applies = divides_sequences;
  exchange.follows = [](const Strategy& a, const Strategy& b) {
    return !divides_sequences(a) || !divides_sequences(b);
  };
}

void add_expert_and_data_degrees(AxisRows& rows) {
  rows.add_first(
          {.file = 7, .change = 9, .column = 5, .form = 6}, degree<&Strategy::expert_parallel>(),
          {.flag = "--ep",
           .key = "expert_parallel",
           .change = "ep",
           .foreign = {"--expert-parallel", "--expert-model-parallel-size", "--ep-size", "--expert-parallel-degree"},
           .meaning = "expert-parallel ranks",
           .column = "ep",
           .caption = "EP"})
      .in_tables = InTables::where_unusual;
  StrategyAxis& parts =
      rows.add_first({.file = 8, .change = 10, .column = 6}, degree<&Strategy::expert_tensor_parallel>(),
                     {.flag = "--etp",
                      .key = "expert_tensor_parallel",
                      .change = "etp",
                      .foreign = {"--expert-tensor-parallel-size", "--expert-tensor-parallel-degree"},
                      .meaning = "tensor-parallel ranks inside an expert",
                      .column = "etp"});
  parts.in_files = InFiles::always;
  parts.in_tables = InTables::where_unusual;
  rows.add_first(
          {.file = 1, .change = 11, .column = 8, .form = 3}, degree<&Strategy::data_parallel>(),
          {.flag = "--dp",
           .key = "data_parallel",
           .change = "dp",
           .help = "data-parallel ranks (the GPUs that the other degrees leave)",
           .foreign = {"--data-parallel", "--data-parallel-size", "--dp-size", "--data-parallel-replicate-degree"},
           .meaning = "data-parallel ranks",
           .column = "dp",
           .caption = "DP"})
      .follows = [](const Strategy&, const Strategy&) { return true; };
}

void add_pipeline(AxisRows& rows) {
  StrategyAxis& chunks = rows.add_first(
      {.file = 5, .change = 5, .column = 10}, degree<&Strategy::virtual_stages>(),
      {.flag = "--virtual-stages",
       .key = "virtual_stages",
       .change = "virtual stages",
       .foreign = {"--vs", "--vpp", "--virtual-pipeline-model-parallel-size", "--num-virtual-stages-per-pipeline-rank"},
       .meaning = "chunks of layers on each pipeline rank",
       .column = "vs"});
  chunks.in_tables = InTables::where_unusual;
  chunks.follows = [](const Strategy&, const Strategy& after) { return !has_pipeline(after); };
  StrategyAxis& schedule = rows.add_first(
      {.file = 11, .change = 4, .column = 9, .form = 9}, choice<&Strategy::schedule>(all_schedules),
      {.flag = "--schedule",
       .key = "schedule",
       .change = "schedule",
       .help =
           "of the pipeline (1f1b; interleaved with virtual stages); a search takes the first three, others by --fix",
       .foreign = {"--pipeline-schedule", "--pipeline-parallel-schedule"},
       .meaning = "order of the pipeline's forwards and backwards",
       .column = "schedule",
       .caption = "Schedule",
       .in_schema = "of the pipeline"});
  schedule.values = joined(std::span(schedule.names).subspan(1), "|");  // not "none"
  schedule.in_tables = InTables::where_unusual;
  schedule.applies = has_pipeline;
  schedule.follows = schedule_follows;
}

void add_micro_batches(AxisRows& rows) {
  rows.add_first({.file = 12, .change = 12, .column = 11, .form = 8},
                 number<&Strategy::micro_batch>(1, largest_global_batch),
                 {.flag = "--micro-batch",
                  .key = "micro_batch",
                  .change = "micro-batch",
                  .help = "sequences of one micro-batch (1)",
                  .foreign = {"--mbs", "--micro-batch-size", "--per-device-train-batch-size",
                              "--train-micro-batch-size-per-gpu", "--local-batch-size", "--micro-bs"},
                  .meaning = "sequences of a micro-batch",
                  .column = "mbs x m",
                  .caption = "Micro-batch",
                  .in_schema = "sequences"});
  rows.add_first({.file = 13}, number<&Strategy::micro_batches>(1, largest_global_batch),
                 {.flag = "", .key = "micro_batches", .change = "", .in_schema = "of a data-parallel rank in a step"});
}

void add_sharding(AxisRows& rows) {
  StrategyAxis& stage = rows.add_first(
      {.file = 9, .change = 13, .column = 12, .form = 7}, number<&Strategy::zero_stage>(0, 3),
      {.flag = "--zero",
       .key = "zero_stage",
       .change = "ZeRO",
       .help = "ZeRO stage; 3 is FSDP (0)",
       .foreign = {"--zero-stage", "--fsdp", "--fully-shard", "--sharding-strategy", "--use-distributed-optimizer"},
       .meaning = "ZeRO stage",
       .examples = ", 0 to 3",
       .column = "zero",
       .caption = "ZeRO"});
  stage.values = "0|1|2|3";
  stage.follows = [](const Strategy&, const Strategy& after) { return after.gradient_ranks() == 1; };
  StrategyAxis& group =
      rows.add_first({.file = 10, .change = 14}, degree<&Strategy::shard_group>(),
                     {.flag = "--shard-group",
                      .key = "shard_group",
                      .change = "shard group",
                      .help = "ranks that share one copy of the sharded states (all)",
                      .foreign = {"--data-parallel-shard-degree", "--hsdp", "--num-distributed-optimizer-instances"},
                      .in_schema = "ranks that divide states, gradients or parameters"});
  group.applies = shards;
  group.follows = [](const Strategy& a, const Strategy& b) { return is_whole(a) && is_whole(b); };
}

void add_details_of_sharding(AxisRows& rows) {
  StrategyAxis& prefetch =
      rows.add(toggle<&Strategy::prefetch, ParameterPrefetch::on, ParameterPrefetch::off>(),
               {.flag = "--prefetch",
                .key = "prefetch",
                .change = "prefetch",
                .help = "ZeRO-3: gather a unit alongside the one before it (on)",
                .meaning = "ZeRO-3: whether a unit is gathered alongside the one before it",
                .column = "prefetch",
                .in_schema = "false: ZeRO-3 gathers a unit's parameters when the unit begins; absent: alongside the "
                             "unit before it"});
  prefetch.change_place = 15;
  prefetch.column_place = 13;
  prefetch.applies = shards_weights;
  prefetch.detail_of = "--zero";
  prefetch.summary = [](const Strategy&) { return std::string("no prefetch"); };
  StrategyAxis& unit =
      rows.add(number<&Strategy::layers_per_unit>(1, most_layers),
               {.flag = "--layers-per-unit",
                .key = "layers_per_unit",
                .change = "layers per unit",
                .help = "ZeRO-3: layers gathered and reduced at once (1)",
                .meaning = "ZeRO-3: layers that are gathered and reduced at once",
                .column = "layers/unit",
                .in_schema = "layers whose parameters ZeRO-3 gathers, and whose gradients it reduces, at once; "
                             "absent: 1"});
  unit.change_place = 16;
  unit.column_place = 14;
  unit.applies = shards_weights;
  unit.detail_of = "--zero";
  unit.summary = [](const Strategy& s) { return "units of " + std::to_string(s.layers_per_unit) + " layers"; };
  StrategyAxis& secondary = rows.add(
      degree<&Strategy::secondary_shard_group>(),
      {.flag = "--secondary-shard-group",
       .key = "secondary_shard_group",
       .change = "secondary shard group",
       .help = "ZeRO-3: ranks that keep all parameters for the backward (1: none)",
       .foreign = {"--reshard-after-forward", "--zero-hpz-partition-size"},
       .meaning = "ZeRO-3: ranks that keep all parameters for the backward",
       .column = "secondary group",
       .in_schema = "ranks that hold all parameters from a forward of ZeRO-3 to its backward, which gathers over them; "
                    "absent: none"});
  secondary.change_place = 17;
  secondary.column_place = 15;
  secondary.applies = shards_weights;
  secondary.detail_of = "--zero";
  secondary.goes_with = divides_shard_group;
  secondary.considered = Considered::when_named;
  secondary.summary = [](const Strategy& s) {
    return "secondary shards over " + std::to_string(s.secondary_shard_group);
  };
}

void add_kernels(AxisRows& rows) {
  StrategyAxis& sequence =
      rows.add_first({.file = 3, .change = 2, .column = 2},
                     toggle<&Strategy::sequence_parallel, SequenceParallel::on, SequenceParallel::off>(),
                     {.flag = "--sequence-parallel",
                      .key = "sequence_parallel",
                      .change = "sequence parallelism",
                      .help = "with tensor parallelism (off; on without a value)",
                      .foreign = {"--sp", "--enable-sequence-parallel"},
                      .meaning = "sequence parallelism",
                      .column = "sp"});
  sequence.in_tables = InTables::where_unusual;
  sequence.applies = has_tensor_ranks;
  sequence.follows = [](const Strategy& a, const Strategy& b) { return !has_tensor_ranks(a) || !has_tensor_ranks(b); };
  StrategyAxis& flash = rows.add_first({.file = StrategyAxis::recipe_place + 1, .change = 18, .column = 16},
                                       toggle<&Strategy::flash_attention, FlashAttention::on, FlashAttention::off>(),
                                       {.flag = "--flash-attention",
                                        .key = "flash_attention",
                                        .change = "flash attention",
                                        .help = "fused attention kernels (on)",
                                        .foreign = {"--flash-attn", "--use-flash-attn", "--attn-implementation"},
                                        .meaning = "fused attention kernels (FlashAttention)",
                                        .column = "flash"});
  flash.in_search = InSearch::listed;
  flash.in_tables = InTables::where_different;
  flash.is_of_question = true;
}

std::string split_or_layers(const Strategy& s) {
  return s.layers_per_stage.empty() ? std::string(to_text(s.split)) : layers_text(s.layers_per_stage);
}

void add_layers(AxisRows& rows) {
  StrategyAxis recompute = of_member<&Strategy::recompute>(AxisKind::recompute);
  recompute.values = recompute_names_text("|");
  rows.add_first({.file = 14, .change = 17, .column = 15, .form = 10}, std::move(recompute),
                 {.flag = "--recompute",
                  .key = "recompute",
                  .change = "recompute",
                  .help = "what the backward pass computes again (none); optimal: the least that fits",
                  .foreign = {"--recompute-granularity", "--recompute-activations", "--activation-checkpointing",
                              "--gradient-checkpointing", "--activation-checkpoint-mode"},
                  .meaning = "what the backward pass computes again",
                  .examples = ", such as selective, full, uniform:2 or optimal",
                  .column = "recompute",
                  .caption = "Recompute"});
  StrategyAxis layers;
  layers.kind = AxisKind::layers;
  layers.values = "N,N,...";
  layers.least = 0;
  layers.most = most_layers;
  StrategyAxis& by_hand = rows.add_first(
      {.file = 16, .column = 18}, std::move(layers),
      {.flag = "--layers-per-stage",
       .key = "layers_per_stage",
       .change = "",
       .help = "layers of each pipeline chunk by hand, a number for each",
       .foreign = {"--pipeline-model-parallel-layout"},
       .meaning = "layers of each pipeline chunk, where they are not divided evenly; 3x4: three chunks of 4",
       .column = "layers",
       .in_schema = "by hand, one number for each chunk"});
  by_hand.in_files = InFiles::always;
  by_hand.in_tables = InTables::where_unusual;
  StrategyAxis& split =
      rows.add_first({.file = 15, .change = 6, .column = 17}, choice<&Strategy::split>(all_stage_splits),
                     {.flag = "--split",
                      .key = "split",
                      .change = "split",
                      .help = "which layers a pipeline stage holds (even); balanced: the fastest split",
                      .meaning = "how layers are divided over pipeline stages",
                      .column = "split"});
  split.in_files = InFiles::always;
  split.in_tables = InTables::where_unusual;
  split.follows = [](const Strategy& before, const Strategy& after) { return before.chunks() != after.chunks(); };
  split.change_text = split_or_layers;
}

std::vector<StrategyAxis> make_axes() {
  AxisRows rows;
  add_degrees(rows);
  add_expert_and_data_degrees(rows);
  add_pipeline(rows);
  add_micro_batches(rows);
  add_sharding(rows);
  add_details_of_sharding(rows);
  add_kernels(rows);
  add_layers(rows);
  return rows.take();
}

}  // namespace

const std::vector<StrategyAxis>& strategy_axes() {
  static const std::vector<StrategyAxis> axes = make_axes();
  return axes;
}

}  // namespace plumbline
