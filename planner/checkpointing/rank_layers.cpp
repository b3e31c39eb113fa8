#include "planner/checkpointing/rank_layers.h"

#include <algorithm>

namespace plumbline {
namespace {

Bytes logits_of(const RankContent& content, const std::vector<BlockCost>& blocks) {
  Bytes sum(0);
  for (std::size_t b = 0; b < blocks.size(); ++b) sum += std::int64_t{content.executions[b]} * blocks[b].logits;
  return sum;
}

}  // namespace

RankLayers::RankLayers(std::span<const RankContent> chunks, std::int32_t virtual_stages,
                       const std::vector<BlockCost>& blocks, const std::vector<std::vector<LayerOption>>& options) {
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
    for (std::size_t b = 0; b < options.size(); ++b) {
      if (contents[c]->executions[b] == 0) continue;
      members_.push_back({c, static_cast<std::int32_t>(b)});
      std::vector<LayerOption>& own = options_.emplace_back(options[b]);
      const Bytes logits = blocks[b].logits > Bytes(0) ? Bytes(0) : logits_of(*contents[c], blocks);
      for (LayerOption& option : own) {
        option.saved = repeats[c] * option.saved;
        option.time = repeats[c] * option.time;
        // Kept bytes are counted in chunks of 1 / virtual_stages, so everything beside them is scaled instead.
        option.restored = std::int64_t{virtual_stages} * beside_logits(option.restored, logits);
      }
    }
  for (std::size_t g = 0; g < members_.size(); ++g)
    groups_.push_back(
        {options_[g], contents[members_[g].content]->executions[static_cast<std::size_t>(members_[g].block)]});
  chooser_.emplace(groups_);
}

const LayerChoice& RankLayers::smallest(std::int64_t in_flight) const {
  const std::scoped_lock lock(mutex_);
  const auto known = smallest_.find(in_flight);
  if (known != smallest_.end()) return known->second;
  return smallest_.emplace(in_flight, smallest_layers(groups_, in_flight)).first->second;
}

RankLayersTable::RankLayersTable(const std::vector<BlockCost>& blocks) : blocks_(&blocks) {
  for (const BlockCost& block : blocks) {
    std::vector<LayerOption>& options = options_.emplace_back();
    for (std::size_t v = Variant::first_placed; v < block.variants.size(); ++v) {
      const BlockVariant& variant = block.variants[v];
      options.push_back({variant.saved, variant.recompute.total(), block.working + variant.restored});
    }
  }
}

const RankLayers& RankLayersTable::of(std::span<const RankContent> chunks, std::int32_t virtual_stages) const {
  std::vector<std::vector<std::int32_t>> executions;
  for (const RankContent& chunk : chunks) executions.push_back(chunk.executions);
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<const RankLayers>& entry = known_[{virtual_stages, std::move(executions)}];
  if (!entry) entry = std::make_unique<const RankLayers>(chunks, virtual_stages, *blocks_, options_);
  return *entry;
}

}  // namespace plumbline
