#include "runtime/execution/rank_groups.h"

#include <algorithm>

#include "core/sharding/shard_ranks.h"

namespace plumbline {
namespace {

RankSet ranks_of(const RankGroup& group, std::int32_t rank, std::string name) {
  RankSet set{std::move(name), {}};
  const std::int32_t first = rank - rank / group.stride % group.size * group.stride;
  for (std::int32_t i = 0; i < group.size; ++i) set.ranks.push_back(first + i * group.stride);
  return set;
}

Messages messages_on(Axis axis, const Strategy& strategy) {
  if (axis == Axis::pipeline) return Messages::stages;
  if (axis == Axis::expert || (axis == Axis::context && strategy.exchanges_heads())) return Messages::each;
  return axis == Axis::context ? Messages::ring : Messages::any;
}

}  // namespace

RankSet group_ranks(const Strategy& strategy, Axis axis, std::int32_t rank) {
  return ranks_of(rank_group(strategy, axis), rank, std::string(to_text(axis)));
}

RankGroups::RankGroups(World& world, const Strategy& strategy) : rank_(world.rank()) {
  for (const Axis axis : all_axes)
    if (forms(strategy, axis))
      of_axis_[static_cast<std::size_t>(axis)] =
          world.communicator(group_ranks(strategy, axis, rank_), messages_on(axis, strategy));
  const RankGroup all = rank_group(strategy, Axis::expert_gradient);
  const auto shard = static_cast<std::int32_t>(std::max<std::int64_t>(1, shard_ranks(strategy).expert));
  expert_shard_ = world.communicator(ranks_of({shard, all.stride}, rank_, "expert_shard"));
  expert_replicate_ =
      world.communicator(ranks_of({std::max(1, all.size / shard), all.stride * shard}, rank_, "expert_replicate"));
  const auto secondary = static_cast<std::int32_t>(secondary_ranks(strategy).expert);
  if (secondary < shard)
    expert_secondary_ = world.communicator(ranks_of({secondary, all.stride}, rank_, "expert_secondary_shard"));
  expert_counts_ =
      world.communicator(ranks_of(rank_group(strategy, Axis::expert), rank_, "expert_counts"), Messages::each);
  expert_tensor_counts_ =
      world.communicator(ranks_of(rank_group(strategy, Axis::expert_tensor), rank_, "expert_tensor_counts"));
  expert_matrices_ = world.communicator(ranks_of(rank_group(strategy, Axis::expert_tensor), rank_, "expert_matrices"));
  const RankSet stages = group_ranks(strategy, Axis::pipeline, rank_);
  const bool is_end = rank_ == stages.ranks.front() || rank_ == stages.ranks.back();
  if (stages.size() > 1 && is_end)
    ends_ = world.communicator({"pipeline_ends", {stages.ranks.front(), stages.ranks.back()}});
  everyone_ = world.everyone("step_scalars");
  replicas_ = world.everyone("replicas");
}

}  // namespace plumbline
