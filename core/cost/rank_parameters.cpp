#include "core/cost/rank_parameters.h"

#include "core/cost/product_format.h"

namespace plumbline {
namespace {

ParameterSplit operator+(ParameterSplit a, ParameterSplit b) { return {a.matrix + b.matrix, a.other + b.other}; }
ParameterSplit divided(ParameterSplit split, std::int64_t ranks) {
  return {plumbline::divided(split.matrix, ranks), plumbline::divided(split.other, ranks)};
}

/// A weight matrix inside the layers, as opposed to embeddings, heads, norms and biases.
bool is_layer_matrix(const Block& block, const Tensor& parameter) {
  return block.kind() == BlockKind::layer && parameter.shape.size() >= 2;
}

/// Whether an operator works on what no other tensor-parallel rank has. Linears that leave a region gather the whole
/// gradient of their output, so that the bias is whole again.
bool works_on_a_part(const Block& block, const Op& op, const Shard& shard) {
  if (shard.tensor_parallel == 1 || op.outputs.empty()) return false;
  const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
  if (linear != nullptr && linear->partition == WeightPartition::row) return false;
  const Tensor& output = block.tensor(op.outputs.front());
  if (output.partition == Partition::sequence)
    return shard.sequence_ranks() > 1 && depends_on(output.shape, Symbol::sequence);
  return output.partition == Partition::tensor;
}

}  // namespace

RankParameters& RankParameters::operator+=(const RankParameters& other) {
  dense = dense + other.dense;
  dense_trained = dense_trained + other.dense_trained;
  expert = expert + other.expert;
  expert_trained = expert_trained + other.expert_trained;
  tied += other.tied;
  product_weights += other.product_weights;
  partial_trained += other.partial_trained;
  return *this;
}

RankParameters RankParameters::operator*(std::int64_t count) const {
  const auto times = [&](ParameterSplit split) { return ParameterSplit{split.matrix * count, split.other * count}; };
  return {times(dense), times(dense_trained),    times(expert),          times(expert_trained),
          tied * count, product_weights * count, partial_trained * count};
}

ParameterTensors& ParameterTensors::operator+=(const ParameterTensors& other) {
  gathered += other.gathered;
  trained += other.trained;
  return *this;
}

ParameterTensors parameter_tensors(const Block& block, const Shard& shard, double gathered_from) {
  ParameterTensors sum;
  for (const Op& op : block.ops())
    for (const TensorId id : op.parameters) {
      const Tensor& parameter = block.tensor(id);
      if (parameter.partition == Partition::expert) continue;
      if (static_cast<double>(local_elements(parameter, shard)) >= gathered_from) ++sum.gathered;
      if (parameter.trainable) ++sum.trained;
    }
  return sum;
}

RankParameters rank_parameters(const Block& block, const Shard& shard) {
  RankParameters sum;
  for (const Op& op : block.ops()) {
    for (const TensorId id : op.parameters) {
      const Tensor& parameter = block.tensor(id);
      const std::int64_t count = local_elements(parameter, shard);
      const bool matrix = is_layer_matrix(block, parameter);
      const ParameterSplit split{matrix ? count : 0, matrix ? 0 : count};
      const bool expert = parameter.partition == Partition::expert;
      (expert ? sum.expert : sum.dense) = (expert ? sum.expert : sum.dense) + split;
      if (parameter.trainable)
        (expert ? sum.expert_trained : sum.dense_trained) = (expert ? sum.expert_trained : sum.dense_trained) + split;
      if (parameter.tied) sum.tied += count;
      if (parameter.trainable && parameter.partition == Partition::replicated && works_on_a_part(block, op, shard))
        sum.partial_trained += count;
      const bool is_product = op.kind == OpKind::linear || op.kind == OpKind::grouped_linear;
      if (matrix && is_product && is_quantized(product_format(block, op, shard))) sum.product_weights += count;
    }
  }
  return sum;
}

RankParameters without_tied(RankParameters p) {
  p.dense.other -= p.tied;
  if (p.dense_trained.other >= p.tied) p.dense_trained.other -= p.tied;
  p.tied = 0;
  return p;
}

RankParameters part_of_rank(const RankParameters& part, const RankParameters& rank) {
  return rank.tied == 0 ? without_tied(part) : part;
}

ModelState model_state(const RankParameters& p, const PrecisionFormats& formats, Optimizer optimizer,
                       std::int32_t zero_stage, ShardRanks ranks) {
  const auto shared = [&](ParameterSplit dense, ParameterSplit expert, bool sharded) {
    return sharded ? divided(dense, ranks.dense) + divided(expert, ranks.expert) : dense + expert;
  };
  ModelState state;
  state.weights = storage(shared(p.dense, p.expert, zero_stage >= 3).total(), formats.weight);
  state.gradients = storage(shared(p.dense_trained, p.expert_trained, zero_stage >= 2).total(), formats.gradient);
  const ParameterSplit updated = shared(p.dense_trained, p.expert_trained, zero_stage >= 1);
  if (formats.master) state.master_weights = storage(updated.total(), *formats.master);
  state.optimizer_state = optimizer_state_bytes(optimizer, formats, updated);
  return state;
}

}  // namespace plumbline
