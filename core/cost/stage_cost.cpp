#include "core/cost/stage_cost.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/cost/overlap.h"
#include "core/cost/ruled_variants.h"
#include "core/cost/stage_units.h"
#include "core/cost/time_limits.h"

namespace plumbline {
namespace {

PhaseTime times(PhaseTime time, std::int64_t count) {
  return {repeated(time.compute, count), repeated(time.tensor_parallel, count), repeated(time.context_parallel, count),
          repeated(time.expert_parallel, count)};
}

void add_block(StageCost& stage, const BlockCost& block, std::int64_t count) {
  stage.forward += times(block.forward, count);
  stage.backward += times(block.backward, count);
  add_phase(stage.backward_weight, repeated(block.backward_weight, count));
  add_phase(stage.host_forward, repeated(block.host_forward, count));
  add_phase(stage.host_backward, repeated(block.host_backward, count));
  add_phase(stage.host_backward_weight, repeated(block.host_backward_weight, count));
  stage.parameters.add(block.parameters, count);
  stage.tensors += block.tensors * count;
  add_phase(stage.orthogonalisation, repeated(block.orthogonalisation, count));
  stage.wire_forward += block.wire_forward * count;
  stage.wire_backward += block.wire_backward * count;
  stage.units += count;
  stage.attention_scratch = std::max(stage.attention_scratch, block.attention_scratch);
  stage.unturned_weights += block.unturned_weights * count;
  stage.model_flops += static_cast<double>(count) * block.flops.total();
}

Bytes logits_of(const RankContent& content, const std::vector<BlockCost>& blocks) {
  Bytes sum(0);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    sum += std::int64_t{content.executions[b]} * blocks[b].memory().logits;
  return sum;
}

/// `logits`: of the whole stage; `memory`: of the stage, or of its offloaded blocks.
void add_variant(StageCost& stage, MemoryProfile& memory, const BlockCost& block, const BlockVariant& variant,
                 std::int64_t count, Bytes logits) {
  stage.recompute += times(variant.recompute, count);
  add_phase(stage.copies.forward, repeated(variant.copies.forward, count));
  add_phase(stage.copies.backward, repeated(variant.copies.backward, count));
  stage.copied += count * variant.copied;
  add_phase(stage.host_backward, repeated(variant.host, count));
  const bool follows_logits = block.frees_logits && variant.memory.logits == Bytes(0);
  memory.add(variant.memory, count, follows_logits ? logits : Bytes(0));
  stage.recompute_flops += static_cast<double>(count) * variant.flops;
  stage.wire_recompute += variant.wire * count;
  stage.regathered += variant.regathered * count;
}

/// While a row is replayed, and run backward against its order, what the layers before the one at work have restored
/// waits.
MemoryProfile row_memory(const ReplayRow& row, const std::vector<BlockCost>& blocks) {
  MemoryProfile of_row;
  WorkingSets& most = of_row.working;
  Bytes restored(0);
  for (const VariantCount& layer : row.layers) {
    const MemoryProfile& memory = blocks[static_cast<std::size_t>(layer.block)].variant(layer.variant).memory;
    restored += memory.replayed_ahead;
    most.backward = std::max({most.backward, restored + memory.working.replay, restored + memory.working.backward});
    most.backward_input =
        std::max({most.backward_input, restored + memory.working.replay, restored + memory.working.backward_input});
  }
  return of_row;
}

/// What the blocks behind the offloaded ones keep: those are the first layers, whatever their blocks.
Bytes kept_behind(const RankContent& content, const std::vector<BlockCost>& blocks) {
  const auto cost_of = [&](const VariantCount& counted) -> const MemoryProfile& {
    return blocks[static_cast<std::size_t>(counted.block)].variant(counted.variant).memory;
  };
  const auto first = std::find_if(content.variants.begin(), content.variants.end(),
                                  [&](const VariantCount& counted) { return cost_of(counted).in_transit > Bytes(0); });
  Bytes sum(0);
  for (const VariantCount& counted : content.variants)
    if (counted.block >= first->block) sum += std::int64_t{counted.count} * cost_of(counted).saved;
  return sum;
}

/// Copies that are under way while blocks act: of whole backwards, and of split ones.
void add_copies(WorkingSets& sets, Bytes whole, Bytes split) {
  sets.forward += whole;
  sets.backward += whole;
  sets.backward_input += split;
  sets.weight += split;
}

/// While an offloaded block acts, the blocks behind it (`behind`: what they keep) keep nothing: they have not run yet,
/// or are done. One copy is under way next to it, to the host in the forward and back in the backward. There are two if
/// it is the last block of its rank, whose forward is followed by the backward of another micro-batch, or if passes of
/// weight gradients come in between. Of the other blocks only the next one runs alongside a copy.
void add_offloaded(MemoryProfile& stage, MemoryProfile offloaded, Bytes behind, CopiesUnderWay copies) {
  const Bytes one = offloaded.in_transit;
  const Bytes two = one + one;
  const Bytes whole = behind > Bytes(0) ? one : two;
  if (copies == CopiesUnderWay::counted) {
    add_copies(stage.working, std::max(Bytes(0), whole - behind), std::max(Bytes(0), two - behind));
    add_copies(offloaded.working, whole, two);
  }
  stage.add(offloaded, 1, behind);
}

/// Keeps the pairs in order, each once.
void add(std::vector<VariantCount>& counts, const VariantCount& more) {
  const auto at = std::lower_bound(counts.begin(), counts.end(), VariantCount{more.block, more.variant, 0});
  if (at != counts.end() && at->block == more.block && at->variant == more.variant)
    at->count += more.count;
  else
    counts.insert(at, more);
}

/// Rows that a content holds a part of have no other layers there.
void add_to_row(std::vector<ReplayRow>& rows, const VariantCount& layer) {
  if (layer.variant == Variant::replayed_first) rows.push_back({{layer}, 1});
  const bool goes_on = layer.variant == Variant::replayed_middle || layer.variant == Variant::replayed_last;
  if (goes_on && !rows.empty()) rows.back().layers.push_back(layer);
}

void add_row(std::vector<ReplayRow>& rows, const ReplayRow& more) {
  const auto same =
      std::find_if(rows.begin(), rows.end(), [&](const ReplayRow& row) { return row.layers == more.layers; });
  if (same == rows.end())
    rows.push_back(more);
  else
    same->count += more.count;
}

void join_equal(std::vector<ReplayRow>& rows) {
  std::vector<ReplayRow> joined;
  for (const ReplayRow& row : rows) add_row(joined, row);
  rows = std::move(joined);
}

RankContent content_of(const Graph& graph, const std::vector<BlockId>& sequence,
                       const std::vector<std::int32_t>& variants, Chunk chunk, std::int32_t site,
                       std::int32_t site_count, std::int32_t layers_per_unit) {
  const std::size_t blocks = graph.blocks().size();
  RankContent content{std::vector<std::int32_t>(blocks * static_cast<std::size_t>(site_count), 0),
                      {},
                      chunk.first > 0,
                      chunk.last < std::ssize(sequence),
                      site};
  content.units = unit_contents(graph, chunk, layers_per_unit, site);
  for (std::int64_t i = chunk.first; i < chunk.last; ++i) {
    const std::int32_t block = site * static_cast<std::int32_t>(blocks) + sequence[static_cast<std::size_t>(i)].index();
    ++content.executions[static_cast<std::size_t>(block)];
    add(content.variants, {block, variants[static_cast<std::size_t>(i)], 1});
    add_to_row(content.rows, {block, variants[static_cast<std::size_t>(i)], 1});
  }
  join_equal(content.rows);
  return content;
}

/// What each chunk holds, in the order of the network.
std::vector<RankContent> stage_contents(const Graph& graph, const Arrangement& arrangement) {
  const std::vector<BlockId> sequence = graph.sequence();
  std::vector<RankContent> stages;
  stages.reserve(arrangement.chunks.size());
  for (const Chunk& chunk : arrangement.chunks) {
    const bool has_site = !arrangement.sites.empty() && chunk.first < std::ssize(arrangement.sites);
    const std::int32_t site = has_site ? arrangement.sites[static_cast<std::size_t>(chunk.first)] : 0;
    stages.push_back(content_of(graph, sequence, arrangement.variants, chunk, site, arrangement.site_count,
                                arrangement.layers_per_unit));
    stages.back().receives = stages.size() > 1;
  }
  return stages;
}

void add(RankContent& rank, const RankContent& stage) {
  rank.receives = rank.receives || stage.receives;
  rank.sends = rank.sends || stage.sends;
  for (std::size_t b = 0; b < stage.executions.size(); ++b) rank.executions[b] += stage.executions[b];
  for (const VariantCount& counted : stage.variants) add(rank.variants, counted);
  for (const UnitContent& unit : stage.units) add_unit(rank.units, unit);
  for (const ReplayRow& row : stage.rows) add_row(rank.rows, row);
}

/// Where `content` is among `distinct`, which takes it when it is new.
std::int32_t index_in(std::vector<RankContent>& distinct, const RankContent& content) {
  const auto found = std::find(distinct.begin(), distinct.end(), content);
  const auto index = static_cast<std::int32_t>(found - distinct.begin());
  if (found == distinct.end()) distinct.push_back(content);
  return index;
}

/// Host and device take the blocks of a pass in one order: the device runs what was launched.
class PassEnd {
 public:
  void add(Picoseconds device, Picoseconds host) {
    add_phase(launched_, host);
    ended_ = std::min(std::max(ended_ + device, launched_), longest_phase);
  }
  [[nodiscard]] Picoseconds time() const { return ended_; }

 private:
  Picoseconds launched_{0};
  Picoseconds ended_{0};
};

void find_pass_ends(StageCost& stage, const RankContent& content, const std::vector<BlockCost>& blocks) {
  PassEnd forward;
  PassEnd backward;
  auto of_block = content.variants.begin();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Picoseconds device = repeated(blocks[b].forward.total(), content.executions[b]);
    for (; of_block != content.variants.end() && of_block->block == static_cast<std::int32_t>(b); ++of_block)
      add_phase(device, repeated(blocks[b].variant(of_block->variant).copies.forward, of_block->count));
    forward.add(device, repeated(blocks[b].host_forward, content.executions[b]));
  }
  auto counted = content.variants.rbegin();
  for (std::size_t b = blocks.size(); b-- > 0;) {
    Picoseconds device = repeated(blocks[b].backward.total(), content.executions[b]);
    Picoseconds host = repeated(blocks[b].host_backward, content.executions[b]);
    for (; counted != content.variants.rend() && counted->block == static_cast<std::int32_t>(b); ++counted) {
      const BlockVariant& variant = blocks[b].variant(counted->variant);
      add_phase(device, repeated(variant.recompute.total() + variant.copies.backward, counted->count));
      add_phase(host, repeated(variant.host, counted->count));
    }
    backward.add(device, host);
  }
  stage.forward_end = forward.time();
  stage.backward_end = backward.time();
}

}  // namespace

StageCost stage_cost(const RankContent& content, const std::vector<BlockCost>& blocks, CopiesUnderWay copies) {
  StageCost cost;
  cost.site = content.site;
  cost.link = content.link;
  cost.parameters.units.reserve(blocks.size());
  bool is_first = true;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (content.executions[b] == 0) continue;
    add_block(cost, blocks[b], content.executions[b]);
    cost.kept_output = std::max(cost.kept_output, blocks[b].kept_output);
    if (content.sends) cost.transferred = std::max(cost.transferred, blocks[b].output);
    if (content.receives) {
      cost.boundary = std::max(cost.boundary, blocks[b].boundary);
      // What is trained before a block is trained before those behind it: the first block has the least.
      cost.boundary_gradient =
          is_first ? blocks[b].boundary_gradient : std::min(cost.boundary_gradient, blocks[b].boundary_gradient);
      is_first = false;
      cost.host_waits = cost.host_waits || blocks[b].waits_for_transfers;
    }
    cost.host_waits = cost.host_waits || blocks[b].waits_for_passes;
  }
  const Bytes logits = logits_of(content, blocks);
  MemoryProfile offloaded;
  for (const VariantCount& counted : content.variants) {
    const auto b = static_cast<std::size_t>(counted.block);
    if (content.executions[b] == 0) continue;
    const BlockVariant& variant = blocks[b].variant(counted.variant);
    const bool is_offloaded = variant.memory.in_transit > Bytes(0);
    add_variant(cost, is_offloaded ? offloaded : cost.memory, blocks[b], variant, counted.count, logits);
  }
  for (const ReplayRow& row : content.rows) {
    const bool follows_logits = blocks[static_cast<std::size_t>(row.layers.back().block)].frees_logits;
    cost.memory.add(row_memory(row, blocks), 1, follows_logits ? logits : Bytes(0));
  }
  if (offloaded.in_transit > Bytes(0)) add_offloaded(cost.memory, offloaded, kept_behind(content, blocks), copies);
  find_pass_ends(cost, content, blocks);
  join_units(cost, content, blocks);
  return cost;
}

namespace {

std::vector<StageCost> contents_cost(const std::vector<RankContent>& contents, const std::vector<BlockCost>& blocks,
                                     CopiesUnderWay copies) {
  std::vector<StageCost> costs;
  costs.reserve(contents.size());
  for (const RankContent& content : contents) costs.push_back(stage_cost(content, blocks, copies));
  return costs;
}

struct HostWait {
  Picoseconds forward{0};
  Picoseconds backward{0};
  Picoseconds backward_weight{0};  ///< of backward
};

HostWait host_wait(const StageCost& stage) {
  const Picoseconds device_forward = stage.forward.total() + stage.copies.forward;
  const Picoseconds device_backward = stage.backward.total() + stage.recompute.total() + stage.copies.backward;
  const Picoseconds forward =
      std::max({Picoseconds(0), stage.host_forward - device_forward, stage.forward_end - device_forward});
  const Picoseconds backward =
      std::max({Picoseconds(0), stage.host_backward - device_backward, stage.backward_end - device_backward});
  if (forward + backward <= Picoseconds(0)) return {};
  const Picoseconds ahead =
      std::max(Picoseconds(0), stage.host_forward + stage.host_backward - device_forward - device_backward);
  const Picoseconds both = stage.host_waits ? forward + backward : ahead;
  const Picoseconds of_forward = part(both, forward / (forward + backward));
  const Picoseconds of_backward = both - of_forward;
  const auto late = [](Picoseconds host, Picoseconds device) { return std::max(Picoseconds(0), host - device); };
  const Picoseconds weight = late(stage.host_backward_weight, stage.backward_weight);
  const Picoseconds input =
      late(stage.host_backward - stage.host_backward_weight, device_backward - stage.backward_weight);
  const bool is_late = weight + input > Picoseconds(0);
  return {of_forward, of_backward, is_late ? part(of_backward, weight / (weight + input)) : Picoseconds(0)};
}

}  // namespace

Picoseconds StageCost::forward_wait() const { return host_wait(*this).forward; }
Picoseconds StageCost::backward_wait() const { return host_wait(*this).backward; }
Picoseconds StageCost::backward_weight_wait() const { return host_wait(*this).backward_weight; }

Picoseconds StageCost::passes_with(Picoseconds replay) const {
  return std::max(forward.total() + backward.total() + recompute.total() + copies.total() + replay,
                  host_forward + host_backward);
}

RankContent stage_content(const Graph& graph, const Strategy& strategy, const std::vector<std::int32_t>& variants,
                          Chunk chunk, const StageSites& sites, std::int32_t rank) {
  const auto r = static_cast<std::size_t>(rank);
  RankContent content =
      content_of(graph, graph.sequence(), variants, chunk, sites.site(r), sites.count, strategy.layers_per_unit);
  content.link = sites.link(r);
  return content;
}

StageLayout stage_layout(const Graph& graph, const Strategy& strategy, std::vector<Chunk> chunks,
                         std::vector<std::int32_t> variants, const StageSites& sites) {
  return stage_layout(graph, {std::move(chunks), std::move(variants), strategy.layers_per_unit},
                      strategy.pipeline_stages, placement(strategy.schedule), sites);
}

StageLayout stage_layout(const Graph& graph, const std::vector<Chunk>& chunks, std::int32_t pipeline_stages,
                         Recompute recompute, StagePlacement placement, const StageSites& sites) {
  return stage_layout(graph, {chunks, ruled_variants(graph, recompute, chunks)}, pipeline_stages, placement, sites);
}

namespace {

/// By execution, what the rank of its chunk computes on.
void put_on_sites(Arrangement& arrangement, std::int32_t pipeline_stages, StagePlacement placement,
                  const StageSites& sites) {
  arrangement.site_count = sites.count;
  arrangement.sites.assign(arrangement.variants.size(), 0);
  for (std::size_t s = 0; s < arrangement.chunks.size(); ++s) {
    const std::int32_t rank = rank_of_stage(placement, pipeline_stages, static_cast<std::int32_t>(s));
    const Chunk& chunk = arrangement.chunks[s];
    std::fill(arrangement.sites.begin() + chunk.first, arrangement.sites.begin() + chunk.last,
              sites.site(static_cast<std::size_t>(rank)));
  }
}

}  // namespace

StageLayout stage_layout(const Graph& graph, Arrangement arrangement, std::int32_t pipeline_stages,
                         StagePlacement placement, const StageSites& sites) {
  if (!sites.of_rank.empty()) put_on_sites(arrangement, pipeline_stages, placement, sites);
  const std::size_t costs = graph.blocks().size() * static_cast<std::size_t>(arrangement.site_count);
  const RankContent empty{std::vector<std::int32_t>(costs, 0), {}, false, false};
  const std::vector<RankContent> stages = stage_contents(graph, arrangement);
  std::vector<RankContent> ranks(static_cast<std::size_t>(pipeline_stages), empty);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto rank = static_cast<std::size_t>(rank_of_stage(placement, pipeline_stages, static_cast<std::int32_t>(s)));
    ranks[rank].site = sites.of_rank.empty() ? stages[s].site : sites.site(rank);
    ranks[rank].link = sites.link(rank);
    add(ranks[rank], stages[s]);
  }
  StageLayout layout{std::move(arrangement), {}, {}, {}, {}, {}};
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    layout.of_rank.push_back(index_in(layout.distinct, ranks[r]));
    if (layout.first_rank.size() < layout.distinct.size()) layout.first_rank.push_back(static_cast<std::int32_t>(r));
  }
  if (stages.size() > ranks.size())
    for (const RankContent& stage : stages) layout.of_stage.push_back(index_in(layout.distinct_stages, stage));
  return layout;
}

StageTable::StageTable(const Graph& graph, const StageLayout& layout, const std::vector<BlockCost>& blocks,
                       CopiesUnderWay copies)
    : layout_(&layout),
      costs_(contents_cost(layout.distinct, blocks, copies)),
      stage_costs_(contents_cost(layout.distinct_stages, blocks, CopiesUnderWay::left_to_rank)) {
  check(blocks.size() == graph.blocks().size() * static_cast<std::size_t>(layout.arrangement.site_count),
        "every block has its cost on every site");
  if (costs_.empty()) return;
  // The first rank holds the embedding itself; a tied head there is the same storage.
  RankParameters& first = costs_.front().parameters;
  const bool is_tied_in_one_pass = first.tied > 0 && layout.of_stage.empty();
  first = without_tied(std::move(first));
  if (is_tied_in_one_pass) first = with_embedding_kept(std::move(first));
  if (layout.of_rank.empty() || layout.of_rank.back() == 0) return;
  first = with_copied_embedding(std::move(first), costs_[static_cast<std::size_t>(layout.of_rank.back())].parameters);
}

}  // namespace plumbline
