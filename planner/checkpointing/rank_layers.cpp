#include "planner/checkpointing/rank_layers.h"

#include <algorithm>

namespace plumbline {
namespace {

Bytes logits_of(const RankContent& content, const std::vector<BlockCost>& blocks) {
  Bytes sum(0);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    sum += std::int64_t{content.executions[b]} * blocks[b].memory().logits;
  return sum;
}

}  // namespace

RankLayers::RankLayers(std::span<const RankContent> chunks, std::int32_t virtual_stages,
                       const std::vector<BlockCost>& blocks) {
  std::vector<const RankContent*> contents;
  std::vector<std::int64_t> repeats;
  for (const RankContent& chunk : chunks) {
    const auto same = std::find_if(contents.begin(), contents.end(),
                                   [&](const RankContent* c) { return c->executions == chunk.executions; });
    content_of_chunk_.push_back(static_cast<std::size_t>(same - contents.begin()));
    if (same == contents.end()) {
      contents.push_back(&chunk);
      repeats.push_back(0);
    }
    ++repeats[content_of_chunk_.back()];
  }
  for (std::size_t c = 0; c < contents.size(); ++c)
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (contents[c]->executions[b] == 0) continue;
      const auto block = static_cast<std::int32_t>(b);
      const Bytes logits = blocks[b].memory().logits > Bytes(0) ? Bytes(0) : logits_of(*contents[c], blocks);
      members_.push_back({c, block});
      scales_.push_back({block, virtual_stages, repeats[c], logits});
      groups_.push_back({{}, contents[c]->executions[b]});
    }
}

void RankLayers::choose_among(const std::vector<std::vector<LayerOption>>& options, const OptionCaps& caps) {
  for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].options = options[g];
  chooser_.emplace(groups_, caps);
}

const LayerChoice& RankLayers::smallest(std::int64_t in_flight) const {
  const std::scoped_lock lock(mutex_);
  const auto known = smallest_.find(in_flight);
  if (known != smallest_.end()) return known->second;
  return smallest_.emplace(in_flight, smallest_layers(groups_, in_flight)).first->second;
}

RankLayersTable::RankLayersTable(const std::vector<BlockCost>& blocks, Restored restored) : blocks_(&blocks) {
  for (const BlockCost& block : blocks) {
    std::vector<LayerOption>& options = options_.emplace_back();
    for (std::size_t v = Variant::first_placed; v < block.variants.size(); ++v) {
      const VariantSizes& variant = block.variants[v];
      const Bytes beyond = restored == Restored::counted ? variant.restored : Bytes(0);
      options.push_back(
          {variant.memory.saved, block.variant_times[v].recompute.total(), block.memory().working.backward + beyond});
    }
  }
}

const RankLayersTable::Options& RankLayersTable::options_of(const RankLayers& rank) const {
  Options& shared = shared_[rank.scales()];
  if (shared.caps) return shared;
  std::vector<LayerGroup> groups = rank.groups();
  for (const RankLayers::Scale& scale : rank.scales()) {
    std::vector<LayerOption>& options = shared.of_group.emplace_back(options_[static_cast<std::size_t>(scale.block)]);
    for (LayerOption& option : options) {
      option.saved = scale.repeats * option.saved;
      option.time = scale.repeats * option.time;
      option.restored = std::int64_t{scale.virtual_stages} * beyond_logits(option.restored, scale.logits);
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g].options = shared.of_group[g];
  shared.caps.emplace(groups);
  return shared;
}

const RankLayers& RankLayersTable::of(std::span<const RankContent> chunks, std::int32_t virtual_stages) const {
  std::vector<std::vector<std::int32_t>> executions;
  for (const RankContent& chunk : chunks) executions.push_back(chunk.executions);
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<RankLayers>& known = known_[{virtual_stages, std::move(executions)}];
  if (known) return *known;
  known = std::make_unique<RankLayers>(chunks, virtual_stages, *blocks_);
  const Options& options = options_of(*known);
  known->choose_among(options.of_group, *options.caps);
  return *known;
}

}  // namespace plumbline
