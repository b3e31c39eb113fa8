#include "planner/launch/launch_json.h"

#include <algorithm>

#include "core/cost/once_per_step.h"
#include "core/cost/stage_memory.h"
#include "core/plan/rank_group.h"
#include "core/program/compute_schedule.h"
#include "planner/launch/order_runs.h"
#include "planner/launch/parameter_shards.h"
#include "planner/launch/reductions.h"
#include "planner/pricing/priced.h"

namespace plumbline {
namespace {

Json group_json(std::int64_t size, std::int64_t stride) { return Json::Object{{"size", size}, {"stride", stride}}; }

bool is_tied(const Graph& graph) {
  for (const Block& block : graph.blocks())
    for (const Tensor& tensor : block.tensors())
      if (tensor.tied) return true;
  return false;
}

/// Beside those of the layout, by the names that a run's record gives them.
Json groups_json(const Graph& graph, const Strategy& s) {
  const RankGroup all = rank_group(s, Axis::expert_gradient);
  const std::int64_t shard = std::max<std::int64_t>(1, shard_ranks(s).expert);
  const std::int64_t ends = std::int64_t{s.pipeline_stages - 1} * rank_group(s, Axis::pipeline).stride;
  const bool ties = s.pipeline_stages > 1 && is_tied(graph) && placement(s.schedule) == StagePlacement::looped;
  Json::Object groups{{"expert_shard", group_json(shard, all.stride)},
                      {"expert_replicate", group_json(std::max<std::int64_t>(1, all.size / shard), all.stride * shard)},
                      {"embedding_tie", ties ? group_json(2, ends) : Json()}};
  if (const std::int64_t secondary = secondary_ranks(s).expert; secondary < shard)
    groups.emplace_back("expert_secondary_shard", group_json(secondary, all.stride));
  return groups;
}

std::string_view unit_name(BlockKind kind) {
  if (kind == BlockKind::input) return "input";
  return kind == BlockKind::output ? "output" : "layers";
}

Json units_json(const Graph& graph) {
  Json::Array units;
  for (const BlockRun& run : graph.runs())
    units.emplace_back(Json::Object{{"name", unit_name(graph.block(run.block).kind())},
                                    {"block", static_cast<std::int64_t>(run.block.index())},
                                    {"count", run.count}});
  return units;
}

Json integers_json(const auto& numbers) {
  Json::Array array;
  for (const auto number : numbers) array.emplace_back(static_cast<std::int64_t>(number));
  return array;
}

/// Executions that run again before their backward, as first and last of each run of them.
Json replays_json(const Graph& graph, const Arrangement& arrangement, const std::vector<BlockCost>& blocks) {
  const std::vector<BlockId> sequence = graph.sequence();
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  for (std::int64_t e = 0; e < std::ssize(sequence); ++e) {
    const auto i = static_cast<std::size_t>(e);
    const BlockCost& block = blocks[arrangement.cost_index(sequence[i], i, graph.blocks().size())];
    if (block.times(arrangement.variants[i]).recompute.total() <= Picoseconds(0)) continue;
    if (!runs.empty() && runs.back().second + 1 == e)
      runs.back().second = e;
    else
      runs.emplace_back(e, e);
  }
  Json::Array array;
  for (const auto& [first, last] : runs) array.emplace_back(Json::Array{first, last});
  return array;
}

Json parameter_json(const ParameterShard& parameter) {
  Json::Array divided;
  for (const DividedDimension& one : parameter.divided) {
    Json::Object object{{"dimension", one.dimension}, {"over", std::string(to_text(one.over))}};
    if (one.heads > 0) object.emplace_back("heads", one.heads);
    divided.emplace_back(std::move(object));
  }
  Json::Object object{{"name", parameter.name},
                      {"shape", integers_json(parameter.shape)},
                      {"divided", std::move(divided)},
                      {"trained", parameter.is_trained}};
  if (parameter.is_tied) object.emplace_back("tied", true);
  return object;
}

Json section_json(const ShardSection& section, const Strategy& s) {
  Json::Object object{{"trained", section.is_trained},
                      {"parameters", integers_json(section.parameters)},
                      {"elements", section.elements},
                      {"padded", section.padded},
                      {"over", section.is_expert ? "expert_shard" : "shard"},
                      {"parts", section.parts}};
  if (s.layers_per_unit != 1 && section.matrices > 0) object.emplace_back("matrices", section.matrices);
  return object;
}

Json blocks_json(const std::vector<BlockShards>& blocks, const Strategy& s) {
  Json::Array array;
  for (const BlockShards& block : blocks) {
    Json::Array parameters;
    for (const ParameterShard& parameter : block.parameters) parameters.push_back(parameter_json(parameter));
    Json::Array sections;
    for (const ShardSection& section : block.sections) sections.emplace_back(section_json(section, s));
    array.emplace_back(
        Json::Object{{"name", block.name}, {"parameters", std::move(parameters)}, {"sections", std::move(sections)}});
  }
  return array;
}

/// What a rank keeps of a section between the steps.
Json kept_json(const Strategy& s) {
  const auto from = [&](int stage) { return s.zero_stage >= stage ? "part" : "whole"; };
  return Json::Object{{"weights", from(3)}, {"gradients", from(2)}, {"optimizer", from(1)}};
}

/// Units of one execution are not said.
Json gathers_json(const Strategy& s, const StackFeatures& stack) {
  const bool is_ahead = s.zero_stage >= 3 ? s.prefetch == ParameterPrefetch::on
                                          : s.zero_stage > 0 && update_gathers(stack) != UpdateGathers::in_order;
  Json::Object object{{"units_ahead", is_ahead ? 1 : 0}};
  if (s.layers_per_unit != 1) object.emplace_back("layers_per_unit", s.layers_per_unit);
  if (forms(s, Axis::secondary_shard))
    object.emplace_back("backwards_over", std::string(to_text(Axis::secondary_shard)));
  return object;
}

Json formats_json(const PrecisionFormats& formats) {
  const auto text = [](NumberFormat format) { return std::string(to_text(format)); };
  return Json::Object{{"products", text(formats.matmul)},
                      {"activations", text(formats.activation)},
                      {"weights", text(formats.weight)},
                      {"gradients", text(formats.gradient)},
                      {"reduction", text(formats.reduction)},
                      {"master_weights", formats.master ? Json(text(*formats.master)) : Json()},
                      {"optimizer_state", text(formats.optimizer_state)}};
}

Json order_json(const RankOrder& order, const Strategy& s) {
  constexpr std::int32_t actions_of_a_chunk = 4;  // forward and backward, whole or split, twice where periods are two
  Json::Array runs;
  for (const OrderRun& run : order_runs(order, actions_of_a_chunk * s.chunks())) {
    Json::Array actions;
    for (const ComputeAction& action : run.actions) {
      Json::Array one{std::string(to_text(action.kind)), action.chunk, action.micro_batch};
      if (action.overlap == Overlap::with_next) one.emplace_back("with-next");
      actions.emplace_back(std::move(one));
    }
    runs.emplace_back(Json::Object{{"actions", std::move(actions)}, {"times", run.times}, {"step", run.step}});
  }
  return runs;
}

Json buckets_json(const std::vector<Bucket>& buckets) {
  Json::Array array;
  for (const Bucket& bucket : buckets) array.push_back(integers_json(bucket));
  return array;
}

Json stages_json(const Question& question, const Strategy& s, const std::vector<Chunk>& chunks) {
  const ComputeSchedule schedule = compute_schedule(s.schedule, pipeline_shape(s));
  const std::vector<StageReductions> reductions = stage_reductions(question, s, chunks);
  Json::Array stages;
  for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) {
    Json::Array executions;
    for (std::int32_t c = 0; c < s.virtual_stages; ++c) {
      const Chunk& chunk = chunks[static_cast<std::size_t>(schedule.stage(rank, c))];
      executions.emplace_back(chunk.first < chunk.last ? Json::Array{chunk.first, chunk.last - 1} : Json::Array{});
    }
    const StageReductions& of_rank = reductions[static_cast<std::size_t>(rank)];
    stages.emplace_back(Json::Object{
        {"units", std::move(executions)},
        {"order", order_json(schedule.ranks[static_cast<std::size_t>(rank)], s)},
        {"reductions", Json::Object{{"each", buckets_json(of_rank.each)}, {"last", buckets_json(of_rank.last)}}}});
  }
  return stages;
}

/// Whole sequences, each in equal consecutive parts.
Json sequence_json(const Strategy& s, const Training& training) {
  const std::int64_t tokens = training.sequence_length / s.context_parallel;
  Json::Array slices;
  for (std::int64_t c = 0; c < s.context_parallel; ++c) {
    Json::Array of_rank;
    of_rank.emplace_back(Json::Array{c * tokens, tokens});
    slices.emplace_back(std::move(of_rank));
  }
  return Json::Object{{"order", "contiguous"}, {"slices", std::move(slices)}};
}

}  // namespace

Json launch_json(const Question& question, const Strategy& s, const std::string& network_config) {
  const Graph& graph = question.graph();
  const std::vector<BlockCost> blocks = block_costs(question, s);
  const Arrangement arrangement = layout_of(question, s, blocks).arrangement;
  return Json::Object{
      {"format", launch_format},
      {"network", network_config.empty() ? Json() : parse_json(network_config, "network")},
      {"groups", groups_json(graph, s)},
      {"placement", placement(s.schedule) == StagePlacement::looped ? "looped" : "v-shaped"},
      {"units", units_json(graph)},
      {"blocks", blocks_json(block_shards(graph, s, question.training().optimizer, arrangement.chunks), s)},
      {"kept", kept_json(s)},
      {"formats", formats_json(question.training().formats())},
      {"stages", stages_json(question, s, arrangement.chunks)},
      {"replays", replays_json(graph, arrangement, blocks)},
      {"gathers", gathers_json(s, question.calibration().stack.features)},
      {"sequence", sequence_json(s, question.training())}};
}

}  // namespace plumbline
