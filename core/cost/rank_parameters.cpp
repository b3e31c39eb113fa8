#include "core/cost/rank_parameters.h"

#include <algorithm>

#include "core/sharding/product_format.h"

namespace plumbline {
namespace {

ParameterSplit operator+(ParameterSplit a, ParameterSplit b) {
  return {a.matrix + b.matrix, a.other + b.other, a.squares + b.squares, a.quantized + b.quantized};
}
ParameterSplit operator*(ParameterSplit split, std::int64_t count) {
  return {split.matrix * count, split.other * count, split.squares * count, split.quantized * count};
}

/// Whether an operator works on what no other tensor-parallel rank has. Linears that leave a region gather the whole
/// gradient of their output, so that the bias is whole again.
bool works_on_a_part(const Block& block, const Op& op, const Shard& shard) {
  if (shard.tensor_parallel == 1 || op.outputs.empty()) return false;
  if (is_row_parallel(op)) return false;
  const Tensor& output = block.tensor(op.outputs.front());
  if (output.partition == Partition::sequence)
    return shard.sequence_ranks() > 1 && depends_on(output.shape, Symbol::sequence);
  return output.partition == Partition::tensor;
}

std::int64_t& section_of(UnitParameters& unit, const Tensor& parameter) {
  if (parameter.partition == Partition::expert) return parameter.trainable ? unit.expert_trained : unit.expert_frozen;
  if (parameter.tied) return parameter.trainable ? unit.end_trained : unit.end_frozen;
  return parameter.trainable ? unit.dense_trained : unit.dense_frozen;
}

FactoredSums& sums_of(UnitParameters& unit, const Tensor& parameter) {
  if (parameter.partition == Partition::expert) return unit.expert_sums;
  return parameter.tied ? unit.end_sums : unit.dense_sums;
}

/// Of a parameter of which the rank holds `count` elements.
FactoredSums factored_sums(const Op& op, const Tensor& parameter, std::int64_t count, const Shard& shard) {
  const bool is_expert = parameter.partition == Partition::expert;
  const std::int64_t parts = is_expert ? shard.expert_tensor_parallel : shard.tensor_parallel;
  const bool is_divided = parts > 1 && (is_expert || parameter.partition == Partition::tensor);
  FactoredSums sums;
  sums.matrices = 1;
  for (std::size_t d = 0; d + 2 < parameter.shape.size(); ++d) sums.matrices *= parameter.shape[d].factor;
  if (is_expert) sums.matrices = divided(sums.matrices, shard.expert_parallel);
  sums.divided = is_divided ? sums.matrices : 0;
  sums.values = count;
  if (parameter.shape.size() < 2) return sums;
  const std::int64_t of_matrix = count / std::max<std::int64_t>(1, sums.matrices);
  std::int64_t columns = parameter.shape.back().factor;
  const bool divides_columns = is_divided && is_row_parallel(op);
  if (divides_columns) columns = of_matrix / parameter.shape[parameter.shape.size() - 2].factor;
  const std::int64_t rows = of_matrix / std::max<std::int64_t>(1, columns);
  sums.values = sums.matrices * (rows + columns);
  if (is_divided) sums.shared = sums.matrices * (divides_columns ? rows : columns);
  return sums;
}

/// The two largest units that may be neighbours: two layers, or a layer and one that is none.
class LargestUnits {
 public:
  void add(std::int64_t size, std::int64_t count, bool is_layer) {
    if (!is_layer) {
      other_ = std::max(other_, size);
      return;
    }
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 2); ++i) insert(size);
  }
  [[nodiscard]] std::int64_t two() const { return first_ + std::max(second_, other_); }
  [[nodiscard]] std::int64_t one() const { return std::max(first_, other_); }

 private:
  void insert(std::int64_t size) {
    second_ = std::max(second_, std::min(first_, size));
    first_ = std::max(first_, size);
  }
  std::int64_t first_ = 0;
  std::int64_t second_ = 0;
  std::int64_t other_ = 0;
};

}  // namespace

ParameterSplit divided(ParameterSplit split, std::int64_t ranks) {
  const std::int64_t part = divided(split.total(), ranks);
  const std::int64_t matrix = std::min(part, divided(split.matrix, ranks));
  return {matrix, part - matrix, split.squares, std::min(part, divided(split.quantized, ranks))};
}

RankParameters RankParameters::sums() const {
  return {dense,
          dense_trained,
          expert,
          expert_trained,
          tied,
          tied_trained,
          tied_squares,
          product_weights,
          partial_trained,
          divided_matrices,
          largest_divided_matrix,
          largest_matrix_unit,
          largest_expert_unit,
          largest_expert_matrix,
          {}};
}

RankParameters& RankParameters::add(const RankParameters& other, std::int64_t count) {
  dense = dense + other.dense * count;
  dense_trained = dense_trained + other.dense_trained * count;
  expert = expert + other.expert * count;
  expert_trained = expert_trained + other.expert_trained * count;
  tied += other.tied * count;
  tied_trained += other.tied_trained * count;
  tied_squares += other.tied_squares * count;
  product_weights += other.product_weights * count;
  partial_trained += other.partial_trained * count;
  divided_matrices += other.divided_matrices * count;
  largest_divided_matrix = std::max(largest_divided_matrix, other.largest_divided_matrix);
  largest_matrix_unit = std::max(largest_matrix_unit, other.largest_matrix_unit);
  largest_expert_unit = std::max(largest_expert_unit, other.largest_expert_unit);
  largest_expert_matrix = std::max(largest_expert_matrix, other.largest_expert_matrix);
  for (UnitParameters unit : other.units) {
    unit.count *= count;
    units.push_back(unit);
  }
  return *this;
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
  UnitParameters unit;
  unit.kind = block.kind();
  for (const Op& op : block.ops()) {
    for (const TensorId id : op.parameters) {
      const Tensor& parameter = block.tensor(id);
      const std::int64_t count = local_elements(parameter, shard);
      const bool matrix = is_layer_matrix(block, parameter);
      const FactoredSums factored = parameter.trainable ? factored_sums(op, parameter, count, shard) : FactoredSums();
      const bool quantized = has_quantized_states(block, parameter);
      const ParameterSplit split{matrix ? count : 0, matrix ? 0 : count, factored.values, quantized ? count : 0};
      const bool expert = parameter.partition == Partition::expert;
      (expert ? sum.expert : sum.dense) = (expert ? sum.expert : sum.dense) + split;
      if (parameter.trainable)
        (expert ? sum.expert_trained : sum.dense_trained) = (expert ? sum.expert_trained : sum.dense_trained) + split;
      section_of(unit, parameter) += count;
      sums_of(unit, parameter) += factored;
      if (quantized && parameter.trainable) (expert ? unit.expert_quantized : unit.dense_quantized).add({count, 1}, 1);
      if (matrix && !expert && !parameter.tied && parameter.trainable) unit.matrix_trained += count;
      if (parameter.tied) sum.tied += count;
      if (parameter.tied && parameter.trainable) sum.tied_trained += count;
      if (parameter.tied) sum.tied_squares += factored.values;
      if (parameter.trainable && parameter.partition == Partition::replicated && works_on_a_part(block, op, shard))
        sum.partial_trained += count;
      const bool is_divided = parameter.partition == Partition::tensor && shard.tensor_parallel > 1;
      if (matrix && is_divided && parameter.trainable) {
        sum.divided_matrices += count;
        sum.largest_divided_matrix = std::max(sum.largest_divided_matrix, count);
      }
      if (matrix && expert && parameter.trainable)
        sum.largest_expert_matrix = std::max(sum.largest_expert_matrix, count);
      if (matrix && is_linear(op.kind) && is_quantized(product_format(block, op, shard))) sum.product_weights += count;
    }
  }
  if (unit.kind == BlockKind::layer) sum.largest_matrix_unit = unit.dense_trained;
  if (unit.kind == BlockKind::layer) sum.largest_expert_unit = unit.expert_trained;
  sum.units = {unit};
  return sum;
}

RankParameters one_unit(RankParameters p) {
  UnitParameters all;
  all.count = 1;
  if (!p.units.empty()) all.kind = p.units.front().kind;
  for (const UnitParameters& unit : p.units) {
    all.dense_trained += unit.count * unit.dense_trained;
    all.matrix_trained += unit.count * unit.matrix_trained;
    all.dense_frozen += unit.count * unit.dense_frozen;
    all.expert_trained += unit.count * unit.expert_trained;
    all.expert_frozen += unit.count * unit.expert_frozen;
    all.end_trained += unit.count * unit.end_trained;
    all.end_frozen += unit.count * unit.end_frozen;
    all.dense_quantized.add(unit.dense_quantized, unit.count);
    all.expert_quantized.add(unit.expert_quantized, unit.count);
    all.dense_sums.add(unit.dense_sums, unit.count);
    all.expert_sums.add(unit.expert_sums, unit.count);
    all.end_sums.add(unit.end_sums, unit.count);
    all.stays = all.stays || unit.stays;
  }
  if (all.kind == BlockKind::layer) {
    p.largest_matrix_unit = all.dense_trained;
    p.largest_expert_unit = all.expert_trained;
  }
  p.units = {all};
  return p;
}

RankParameters without_tied(RankParameters p) {
  p.dense.other -= p.tied;
  p.dense_trained.other -= p.tied_trained;
  p.dense.squares -= p.tied_squares;
  p.dense_trained.squares -= p.tied_squares;
  for (UnitParameters& unit : p.units) {
    if (unit.kind == BlockKind::input) continue;
    unit.end_trained = unit.end_frozen = 0;
    unit.end_sums = {};
  }
  p.tied = p.tied_trained = p.tied_squares = 0;
  return p;
}

RankParameters with_copied_embedding(RankParameters p, const RankParameters& copy) {
  if (copy.tied == 0) return p;
  const bool is_trained = copy.tied_trained > 0;
  for (UnitParameters& unit : p.units) {
    if (unit.kind != BlockKind::input) continue;
    (is_trained ? unit.end_trained : unit.end_frozen) = copy.tied;
    (is_trained ? unit.dense_trained : unit.dense_frozen) -= copy.tied;
    for (const UnitParameters& of_copy : copy.units) {
      unit.end_sums.add(of_copy.end_sums, of_copy.count);
      unit.dense_sums.add(of_copy.end_sums, -of_copy.count);
    }
  }
  return p;
}

RankParameters with_embedding_kept(RankParameters p) {
  for (UnitParameters& unit : p.units) unit.stays = unit.kind == BlockKind::input;
  return p;
}

RankParameters part_of_rank(const RankParameters& part, const RankParameters& rank) {
  RankParameters held = rank.tied == 0 ? without_tied(part) : part;
  for (UnitParameters& unit : held.units) {
    if (unit.kind != BlockKind::input) continue;
    for (const UnitParameters& of_rank : rank.units)
      if (of_rank.kind == BlockKind::input) unit = of_rank;
  }
  return held;
}

RankParameters padded(const RankParameters& parameters, ShardRanks replicas) {
  RankParameters p = parameters.sums();
  for (const UnitParameters& u : parameters.units) {
    const auto padding = [](std::int64_t section, std::int64_t ranks) {
      return section == 0 ? 0 : padded(section, ranks) - section;
    };
    const std::int64_t trained = padding(u.dense_trained, replicas.dense) + padding(u.end_trained, replicas.dense);
    const std::int64_t whole =
        trained + padding(u.dense_frozen, replicas.dense) + padding(u.end_frozen, replicas.dense);
    const std::int64_t expert_trained = padding(u.expert_trained, replicas.expert);
    const std::int64_t expert_frozen = padding(u.expert_frozen, replicas.expert);
    p.dense.other += u.count * whole;
    p.dense_trained.other += u.count * trained;
    p.expert.other += u.count * (expert_trained + expert_frozen);
    p.expert_trained.other += u.count * expert_trained;
  }
  return p;
}

WholeUnits whole_units(const RankParameters& parameters, ShardRanks replicas) {
  LargestUnits whole;
  LargestUnits trained;
  std::int64_t staying = 0;
  std::int64_t staying_trained = 0;
  for (const UnitParameters& unit : parameters.units) {
    if (unit.stays) {
      staying += unit.whole_padded(replicas);
      staying_trained += unit.trained_padded(replicas);
      continue;
    }
    whole.add(unit.whole_padded(replicas), unit.count, unit.kind == BlockKind::layer);
    trained.add(unit.trained_padded(replicas), unit.count, unit.kind == BlockKind::layer);
  }
  return {staying + whole.two(), staying + whole.one(), staying_trained + trained.two()};
}

namespace {

std::int64_t most_quantized_states(const RankParameters& parameters, int states, ShardRanks replicas,
                                   ShardRanks ranks) {
  std::int64_t values = 0;
  const auto add = [&](std::int64_t count, QuantizedParameters quantized, std::int64_t whole, std::int64_t sharing) {
    const std::int64_t part = whole / sharing;
    const std::int64_t others = std::min(part, whole - quantized.elements);
    values += count * (most_quantized_state_values(part - others, quantized.tensors) + others);
  };
  for (const UnitParameters& unit : parameters.units) {
    add(unit.count, unit.dense_quantized, padded(unit.dense_trained, replicas.dense), ranks.dense);
    add(unit.count, {}, padded(unit.end_trained, replicas.dense), ranks.dense);
    add(unit.count, unit.expert_quantized, padded(unit.expert_trained, replicas.expert), ranks.expert);
  }
  return states * values;
}

}  // namespace

std::int64_t most_states(const RankParameters& parameters, Optimizer optimizer, ShardRanks replicas, ShardRanks ranks) {
  const OptimizerFacts& row = facts(optimizer);
  if (row.quantizes_states) return most_quantized_states(parameters, row.matrix_states, replicas, ranks);
  std::int64_t states = 0;
  const auto add = [&](std::int64_t count, std::int64_t matrices, std::int64_t whole, std::int64_t sharing) {
    const std::int64_t part = whole / sharing;
    const std::int64_t others = std::min(part, whole - matrices);
    states += count * ((part - others) * row.matrix_states + others * row.other_states);
  };
  for (const UnitParameters& unit : parameters.units) {
    add(unit.count, unit.matrix_trained, padded(unit.dense_trained, replicas.dense), ranks.dense);
    add(unit.count, 0, padded(unit.end_trained, replicas.dense), ranks.dense);
    add(unit.count, unit.expert_trained, padded(unit.expert_trained, replicas.expert), ranks.expert);
  }
  return states;
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
