#include "core/cost/stage_cost.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/cost/ruled_variants.h"
#include "core/cost/stage_units.h"

namespace plumbline {
namespace {

void add_block(StageSizes& stage, const BlockSizes& block, std::int64_t count) {
  stage.parameters.add(block.parameters, count);
  stage.tensors += block.tensors * count;
  stage.sent.forward += block.wire_forward * count;
  stage.sent.backward += block.wire_backward * count;
  stage.units += count;
  stage.kept_output = std::max(stage.kept_output, block.kept_output);
  stage.attention_scratch = std::max(stage.attention_scratch, block.attention_scratch);
  stage.unturned_weights += block.unturned_weights * count;
  stage.model_flops += static_cast<double>(count) * block.flops.total();
}

template <class Blocks>
Bytes logits_of(const RankContent& content, const Blocks& blocks) {
  Bytes sum(0);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    sum += std::int64_t{content.executions[b]} * blocks[b].memory().logits;
  return sum;
}

/// `logits`: of the whole stage; `memory`: of the stage, or of its offloaded blocks.
void add_variant(StageSizes& stage, MemoryProfile& memory, const BlockSizes& block, const VariantCount& counted,
                 Bytes logits) {
  const VariantSizes& variant = block.variant(counted.variant);
  const std::int64_t count = counted.count;
  stage.copied += count * variant.copied;
  const bool follows_logits = block.frees_logits && variant.memory.logits == Bytes(0);
  memory.add(variant.memory, count, follows_logits ? logits : Bytes(0));
  stage.recompute_flops += static_cast<double>(count) * variant.flops;
  stage.sent.recompute += variant.wire * count;
  stage.regathered += variant.regathered * count;
}

/// While a row is replayed, and run backward against its order, what the layers before the one at work have restored
/// waits.
template <class Blocks>
MemoryProfile row_memory(const ReplayRow& row, const Blocks& blocks) {
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
template <class Blocks>
Bytes kept_behind(const RankContent& content, const Blocks& blocks) {
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

template <class Blocks>
StageSizes sizes_of(const RankContent& content, const Blocks& blocks, CopiesUnderWay copies) {
  StageSizes sizes;
  sizes.site = content.site;
  sizes.link = content.link;
  sizes.parameters.units.reserve(blocks.size());
  bool is_first = true;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (content.executions[b] == 0) continue;
    const BlockSizes& block = blocks[b];
    add_block(sizes, block, content.executions[b]);
    if (content.sends) sizes.transferred = std::max(sizes.transferred, block.output);
    if (!content.receives) continue;
    sizes.boundary = std::max(sizes.boundary, block.boundary);
    // What is trained before a block is trained before those behind it: the first block has the least.
    sizes.boundary_gradient =
        is_first ? block.boundary_gradient : std::min(sizes.boundary_gradient, block.boundary_gradient);
    is_first = false;
  }
  const Bytes logits = logits_of(content, blocks);
  MemoryProfile offloaded;
  for (const VariantCount& counted : content.variants) {
    const auto b = static_cast<std::size_t>(counted.block);
    if (content.executions[b] == 0) continue;
    const bool is_offloaded = blocks[b].variant(counted.variant).memory.in_transit > Bytes(0);
    add_variant(sizes, is_offloaded ? offloaded : sizes.memory, blocks[b], counted, logits);
  }
  for (const ReplayRow& row : content.rows) {
    const bool follows_logits = blocks[static_cast<std::size_t>(row.layers.back().block)].frees_logits;
    sizes.memory.add(row_memory(row, blocks), 1, follows_logits ? logits : Bytes(0));
  }
  if (offloaded.in_transit > Bytes(0)) add_offloaded(sizes.memory, offloaded, kept_behind(content, blocks), copies);
  join_units(sizes, content,
             [&](std::int32_t b) -> const RankParameters& { return blocks[static_cast<std::size_t>(b)].parameters; });
  return sizes;
}

}  // namespace

StageCost stage_cost(const RankContent& content, const std::vector<BlockCost>& blocks, CopiesUnderWay copies) {
  return {sizes_of(content, blocks, copies), stage_pass_times(content, blocks)};
}

namespace {

template <class Make>
auto of_contents(const std::vector<RankContent>& contents, const Make& make) {
  std::vector<decltype(make(contents.front()))> records;
  records.reserve(contents.size());
  for (const RankContent& content : contents) records.push_back(make(content));
  return records;
}

/// The first rank holds the embedding itself; a tied head there is the same storage.
template <class Record>
std::vector<Record> with_tied_once(std::vector<Record> ranks, const StageLayout& layout) {
  if (ranks.empty()) return ranks;
  RankParameters& first = ranks.front().parameters;
  const bool is_tied_in_one_pass = first.tied > 0 && layout.of_stage.empty();
  first = without_tied(std::move(first));
  if (is_tied_in_one_pass) first = with_embedding_kept(std::move(first));
  if (layout.of_rank.empty() || layout.of_rank.back() == 0) return ranks;
  first = with_copied_embedding(std::move(first), ranks[static_cast<std::size_t>(layout.of_rank.back())].parameters);
  return ranks;
}

void check_blocks(const Graph& graph, const StageLayout& layout, std::size_t blocks) {
  check(blocks == graph.blocks().size() * static_cast<std::size_t>(layout.arrangement.site_count),
        "every block has its cost on every site");
}

}  // namespace

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

SizesTable sizes_table(const Graph& graph, const StageLayout& layout, const BlockSizesList& blocks,
                       CopiesUnderWay copies) {
  check_blocks(graph, layout, blocks.size());
  const auto of = [&](CopiesUnderWay how) {
    return [&blocks, how](const RankContent& content) { return sizes_of(content, blocks, how); };
  };
  return {layout, with_tied_once(of_contents(layout.distinct, of(copies)), layout),
          of_contents(layout.distinct_stages, of(CopiesUnderWay::left_to_rank))};
}

StageTable::StageTable(const Graph& graph, const StageLayout& layout, const std::vector<BlockCost>& blocks,
                       CopiesUnderWay copies)
    : StageRecords(layout,
                   with_tied_once(of_contents(layout.distinct,
                                              [&](const RankContent& c) { return stage_cost(c, blocks, copies); }),
                                  layout),
                   of_contents(layout.distinct_stages, [&](const RankContent& c) {
                     return stage_cost(c, blocks, CopiesUnderWay::left_to_rank);
                   })) {
  check_blocks(graph, layout, blocks.size());
}

}  // namespace plumbline
