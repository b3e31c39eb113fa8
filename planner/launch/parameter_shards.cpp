#include "planner/launch/parameter_shards.h"

#include <algorithm>

#include "core/cost/stage_memory.h"
#include "core/plan/pipeline_schedule.h"
#include "core/sharding/layer_matrix.h"

namespace plumbline {
namespace {

std::vector<DividedDimension> divided_dimensions(const Op& op, const Tensor& tensor, const Strategy& s) {
  const std::int64_t last = std::ssize(tensor.shape) - 1;
  if (tensor.partition == Partition::tensor && s.tensor_parallel > 1)
    return {{is_row_parallel(op) ? last : 0, Axis::tensor, tensor.partition_units}};
  std::vector<DividedDimension> divided;
  if (tensor.partition != Partition::expert) return divided;
  if (s.expert_parallel > 1) divided.push_back({0, Axis::expert});
  if (s.expert_tensor_parallel > 1)
    divided.push_back({is_row_parallel(op) ? last : std::min<std::int64_t>(1, last), Axis::expert_tensor});
  return divided;
}

std::int64_t ranks_of(const DividedDimension& divided, const Strategy& s) {
  if (divided.over == Axis::expert) return s.expert_parallel;
  return divided.over == Axis::expert_tensor ? s.expert_tensor_parallel : s.tensor_parallel;
}

std::int64_t elements_on_rank(const ParameterShard& parameter, const Strategy& s) {
  std::vector<std::int64_t> shape = parameter.shape;
  for (const DividedDimension& one : parameter.divided) {
    std::int64_t& size = shape[static_cast<std::size_t>(one.dimension)];
    size = local_width(size, one.heads, ranks_of(one, s));
  }
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  return elements;
}

/// Whether the head is the embedding and another rank holds it. A decoder's embedding is in the block of the first.
bool is_tied_elsewhere(const Graph& graph, const Strategy& s, const std::vector<Chunk>& chunks) {
  const std::vector<BlockId> sequence = graph.sequence();
  const auto rank_of = [&](std::int64_t execution) {
    for (std::size_t c = 0; c < chunks.size(); ++c)
      if (execution >= chunks[c].first && execution < chunks[c].last)
        return rank_of_stage(placement(s.schedule), s.pipeline_stages, static_cast<std::int32_t>(c));
    return 0;
  };
  for (std::int64_t e = 0; e < std::ssize(sequence); ++e) {
    const auto& tensors = graph.block(sequence[static_cast<std::size_t>(e)]).tensors();
    const bool ties = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.tied; });
    if (ties && rank_of(e) != rank_of(0)) return true;
  }
  return false;
}

/// What decides the section of a parameter.
struct Membership {
  bool is_expert = false;
  bool is_end = false;  ///< a tied embedding whose other copy is on another rank, or that copy
  bool is_matrix = false;
  bool has_quantized_states = false;
};

/// The parameters of one block and their sections.
class BlockShardBuilder {
 public:
  BlockShardBuilder(const Strategy& s, Optimizer optimizer, bool tied_elsewhere)
      : s_(s), optimizer_(optimizer), tied_elsewhere_(tied_elsewhere) {}

  BlockShards build(const Block& block) {
    shards_.name = block.name();
    for (const Op& op : block.ops())
      for (const TensorId id : op.parameters) add(block, op, block.tensor(id));
    for (const bool is_expert : {false, true})
      for (const bool is_trained : {true, false})
        for (const bool is_end : {false, true}) add_section(is_expert, is_trained, is_end);
    return std::move(shards_);
  }

 private:
  void add(const Block& block, const Op& op, const Tensor& tensor) {
    ParameterShard parameter;
    parameter.name = tensor.name;
    for (const Dimension& dimension : tensor.shape) parameter.shape.push_back(dimension.factor);
    parameter.divided = divided_dimensions(op, tensor, s_);
    parameter.is_trained = tensor.trainable;
    parameter.is_tied = tensor.tied;
    const bool is_copy = tensor.tied && block.kind() != BlockKind::input;
    const bool is_end = tied_elsewhere_ && (is_copy || (op.kind == OpKind::embedding && !tensor.tied));
    members_.push_back({tensor.partition == Partition::expert, is_end, is_layer_matrix(block, tensor),
                        facts(optimizer_).quantizes_states && has_quantized_states(block, tensor)});
    shards_.parameters.push_back(std::move(parameter));
  }

  void add_section(bool is_expert, bool is_trained, bool is_end) {
    ShardSection section{is_expert, is_trained, {}};
    const auto append = [&](auto counts) {
      for (std::size_t i = 0; i < members_.size(); ++i) {
        const ParameterShard& p = shards_.parameters[i];
        const Membership& m = members_[i];
        if (m.is_expert != is_expert || p.is_trained != is_trained || m.is_end != is_end) continue;
        if ((p.is_tied && !m.is_end) || !counts(m)) continue;
        section.parameters.push_back(static_cast<std::int64_t>(i));
        section.elements += elements_on_rank(p, s_);
      }
    };
    if (facts(optimizer_).orthogonalises_matrices) {
      append([](const Membership& m) { return m.is_matrix; });
      section.matrices = std::ssize(section.parameters);
      append([](const Membership& m) { return !m.is_matrix; });
    } else {
      append([](const Membership& m) { return m.has_quantized_states; });
      section.matrices = std::ssize(section.parameters);
      append([](const Membership& m) { return !m.has_quantized_states; });
    }
    if (section.elements == 0) return;
    const ShardRanks replicas = replica_ranks(s_);
    const ShardRanks ranks = shard_ranks(s_);
    section.padded = padded(section.elements, is_expert ? replicas.expert : replicas.dense);
    section.parts = is_expert ? ranks.expert : ranks.dense;
    shards_.sections.push_back(std::move(section));
  }

  const Strategy& s_;
  Optimizer optimizer_;
  bool tied_elsewhere_;
  BlockShards shards_;
  std::vector<Membership> members_;
};

}  // namespace

std::vector<BlockShards> block_shards(const Graph& graph, const Strategy& strategy, Optimizer optimizer,
                                      const std::vector<Chunk>& chunks) {
  const bool tied_elsewhere = is_tied_elsewhere(graph, strategy, chunks);
  std::vector<BlockShards> all;
  for (const Block& block : graph.blocks())
    all.push_back(BlockShardBuilder(strategy, optimizer, tied_elsewhere).build(block));
  return all;
}

}  // namespace plumbline
