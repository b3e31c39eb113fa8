#include "gui/pages/graph/block_picture.h"

#include <algorithm>
#include <numeric>

#include "core/cost/stack_shard.h"
#include "core/quantity/text.h"
#include "core/sharding/op_work.h"
#include "gui/pages/graph/layered_layout.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {
namespace {

std::string over(std::int64_t ranks, const char* what) {
  return ranks > 1 ? std::string(what) + "/" + std::to_string(ranks) : std::string();
}

/// How a tensor is divided over tensor- and expert-parallel ranks: "width/4" where each of 4 holds a quarter of its
/// width; empty where every rank holds all of it.
std::string partition_words(const Tensor& tensor, const Shard& shard) {
  switch (tensor.partition) {
    case Partition::replicated: return "";
    case Partition::sequence: return over(shard.sequence_ranks(), "tokens");
    case Partition::tensor: return over(shard.tensor_parallel, "width");
    case Partition::expert: return over(std::int64_t{shard.expert_parallel} * shard.expert_tensor_parallel, "experts");
    case Partition::routed: return over(shard.expert_parallel, "routed tokens");
    case Partition::routed_tensor: return over(shard.expert_tensor_parallel, "routed tokens' width");
  }
  return "";
}

std::string sharding_words(const Block& block, const Op& op, const Shard& shard) {
  std::string text;
  const auto add = [&](const char* what, const std::vector<TensorId>& tensors) {
    if (tensors.empty()) return;
    const std::string words = partition_words(block.tensor(tensors.front()), shard);
    if (!words.empty()) text += (text.empty() ? "" : ", ") + std::string(what) + ": " + words;
  };
  add("weight", op.parameters);
  add("out", op.outputs);
  return text;
}

Bytes sum_of(const Block& block, const std::vector<TensorId>& tensors, const Shard& shard) {
  Bytes sum(0);
  for (const TensorId id : tensors) sum += local_bytes(block.tensor(id), shard);
  return sum;
}

GraphNode node_of(const Block& block, const Op& op, const Shard& shard) {
  const OpWork work = op_work(block, op, shard);
  return {op.name,
          present::words_of(to_text(op.kind)),
          work.forward,
          work.backward_input + work.backward_weight,
          sum_of(block, op.outputs, shard),
          sum_of(block, op.parameters, shard),
          sharding_words(block, op, shard),
          0,
          0};
}

BlockPicture picture_of(const Block& block, std::int64_t repeats, const Shard& shard) {
  BlockPicture picture{block.name(), repeats, {}, {}, 0, 0};
  const std::vector<OpId>& order = block.execution_order();
  std::vector<std::size_t> node_of_op(block.ops().size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    node_of_op[static_cast<std::size_t>(order[i].index())] = i;
    picture.nodes.push_back(node_of(block, block.op(order[i]), shard));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<std::size_t> sources;
    for (const TensorId input : block.op(order[i]).inputs)
      if (const OpId producer = block.producer(input); producer.is_valid())
        sources.push_back(node_of_op[static_cast<std::size_t>(producer.index())]);
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    for (const std::size_t source : sources) picture.edges.push_back({source, i});
  }
  lay_out(picture);
  return picture;
}

}  // namespace

std::vector<BlockPicture> block_pictures(const session::PricedQuestion& asked) {
  const Graph& graph = asked.question.graph();
  const Shard shard = shard_of(asked.strategy, asked.question.training(), asked.question.calibration().stack);
  std::vector<std::int64_t> repeats(graph.blocks().size());
  for (const BlockRun& run : graph.runs()) repeats[static_cast<std::size_t>(run.block.index())] += run.count;
  std::vector<BlockPicture> pictures;
  for (std::size_t b = 0; b < repeats.size(); ++b)
    if (repeats[b] > 0) pictures.push_back(picture_of(graph.blocks()[b], repeats[b], shard));
  std::stable_sort(pictures.begin(), pictures.end(),
                   [](const BlockPicture& a, const BlockPicture& b) { return a.repeats > b.repeats; });
  return pictures;
}

present::Table node_table(const BlockPicture& picture) {
  using present::Unit;
  constexpr double giga = 1e9;
  present::Table table{
      {{"operator", "operator", Unit::text, "its name in the network", present::Align::left},
       {"kind", "kind", Unit::text, "what it computes", present::Align::left, present::Keep::always, 1},
       {"forward", "fwd GFLOP", Unit::number, "forward, of one micro-batch on one rank"},
       {"backward", "bwd GFLOP", Unit::number, "backward, of one micro-batch on one rank"},
       {"written", "writes MiB", Unit::mebibytes, "of one micro-batch on one rank"},
       {"parameters", "holds MiB", Unit::mebibytes, "its parameters on one rank, as they are multiplied"},
       {"sharding", "divided", Unit::text,
        "over ranks of tensor and expert parallelism; width/4: each of 4 ranks has a quarter of the width",
        present::Align::left, present::Keep::always, 2}},
      {}};
  for (const GraphNode& node : picture.nodes)
    table.rows.push_back({present::words(node.name), present::words(node.kind),
                          present::decimal(node.forward.value() / giga, 3),
                          present::decimal(node.backward.value() / giga, 3),
                          present::decimal(static_cast<double>(node.written.value()) / present::bytes_per_mib, 2),
                          present::decimal(static_cast<double>(node.parameters.value()) / present::bytes_per_mib, 2),
                          present::words(node.sharding)});
  return table;
}

}  // namespace plumbline::gui
