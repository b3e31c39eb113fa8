#include "core/program/parameter_layout.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/plan/rank_group.h"
#include "core/sharding/layer_matrix.h"
#include "core/sharding/shard_ranks.h"

namespace plumbline {
namespace {

/// "input", "output", or the layer's number in order of execution.
std::vector<std::string> execution_names(const Graph& graph) {
  std::vector<std::string> names;
  std::int64_t layer = 0;
  for (const BlockId id : graph.sequence()) {
    const BlockKind kind = graph.block(id).kind();
    if (kind == BlockKind::input) names.emplace_back("input");
    if (kind == BlockKind::output) names.emplace_back("output");
    if (kind == BlockKind::layer) names.push_back("layers." + std::to_string(layer++));
  }
  return names;
}

void divide(TensorBox& box, std::size_t dimension, std::int64_t parts, std::int64_t index, const std::string& name) {
  const std::int64_t size = box.whole[dimension];
  check(size % parts == 0, "ranks divide " + name + ", or the capability check refuses them");
  box.extent[dimension] = size / parts;
  box.begin[dimension] = index * box.extent[dimension];
}

/// Makes the parameters of a rank one by one.
class Builder {
 public:
  Builder(const Graph& graph, const Strategy& s, const Training& training, std::int32_t rank)
      : graph_(graph), s_(s), training_(training), rank_(rank), sequence_(graph.sequence()) {}

  ParameterLayout build(const std::vector<Chunk>& chunks) {
    names_ = layout_.unit_names = execution_names(graph_);
    is_tied_elsewhere_ = is_tied_elsewhere(chunks);
    layout_.index.resize(sequence_.size());
    layout_.units.resize(sequence_.size());
    layout_.unit_of.assign(sequence_.size(), -1);
    for (const Chunk& chunk : chunks)
      for (const Chunk& unit : sharding_units(graph_, chunk, s_.layers_per_unit))
        add_unit(static_cast<std::int32_t>(unit.first), static_cast<std::int32_t>(unit.last));
    layout_.whole_units = whole_units(&UnitElements::whole, s_.prefetch);
    layout_.whole_units_trained = whole_units(&UnitElements::trained, ParameterPrefetch::on);
    add_owned();
    return std::move(layout_);
  }

 private:
  /// `execution`: the first; up to `end`.
  void add_unit(std::int32_t execution, std::int32_t end) {
    const std::size_t first = layout_.parameters.size();
    first_of_unit_ = execution;
    for (std::int32_t e = execution; e < end; ++e) add_execution(e);
    std::int64_t whole = 0;
    std::int64_t trained = 0;
    for (const bool is_expert : {false, true})
      for (const bool is_trained : {true, false})
        for (const bool is_end : {false, true})
          add_section(Section{execution, is_expert, is_trained, is_end}, first, whole, trained);
    layout_.units[static_cast<std::size_t>(execution)] = {whole, trained};
  }

  void add_execution(std::int32_t execution) {
    const Block& block = graph_.block(sequence_[static_cast<std::size_t>(execution)]);
    layout_.unit_of[static_cast<std::size_t>(execution)] = first_of_unit_;
    layout_.index[static_cast<std::size_t>(execution)].assign(block.tensors().size(), -1);
    for (const Op& op : block.ops())
      for (const TensorId id : op.parameters) add_parameter(execution, block, op, id);
  }

  /// Whether a head that is not among these is the embedding.
  [[nodiscard]] bool is_tied_elsewhere(const std::vector<Chunk>& chunks) const {
    const auto is_here = [&](std::int32_t e) {
      return std::any_of(chunks.begin(), chunks.end(),
                         [&](const Chunk& chunk) { return e >= chunk.first && e < chunk.last; });
    };
    for (std::int32_t e = 0; e < std::ssize(sequence_); ++e) {
      const auto& tensors = graph_.block(sequence_[static_cast<std::size_t>(e)]).tensors();
      const bool is_tied = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.tied; });
      if (is_tied && !is_here(e)) return true;
    }
    return false;
  }

  /// The largest layer and what may be whole with it: the next one, an embedding or a head. Without prefetch the
  /// largest unit.
  [[nodiscard]] std::int64_t whole_units(std::int64_t UnitElements::*size, ParameterPrefetch prefetch) const {
    std::vector<std::int64_t> layers{0, 0};
    std::int64_t other = 0;
    std::int64_t staying = 0;
    for (std::int32_t execution = 0; execution < std::ssize(sequence_); ++execution) {
      const auto e = static_cast<std::size_t>(execution);
      if (layout_.unit_of[e] != execution) continue;
      const std::int64_t elements = layout_.units[e].*size;
      if (execution == layout_.staying_unit)
        staying = elements;
      else if (graph_.block(sequence_[e]).kind() == BlockKind::layer)
        layers.push_back(elements);
      else
        other = std::max(other, elements);
    }
    std::sort(layers.begin(), layers.end(), std::greater<>());
    if (prefetch == ParameterPrefetch::off) return staying + std::max(layers[0], other);
    return staying + layers[0] + std::max(layers[1], other);
  }

  void add_parameter(std::int32_t execution, const Block& block, const Op& op, TensorId id) {
    const Tensor& tensor = block.tensor(id);
    std::int32_t& place = layout_.index[static_cast<std::size_t>(execution)][static_cast<std::size_t>(id.index())];
    if (tensor.tied && embedding_ >= 0) {
      place = embedding_;
      layout_.staying_unit = layout_.parameters[static_cast<std::size_t>(embedding_)].execution;
      layout_.staying_for = first_of_unit_;
      return;
    }
    LocalParameter p;
    p.name = names_[static_cast<std::size_t>(execution)] + "." + tensor.name;
    p.execution = execution;
    p.tensor = id;
    p.is_trained = tensor.trainable;
    p.is_expert = tensor.partition == Partition::expert;
    p.is_layer_matrix = is_layer_matrix(block, tensor);
    p.has_quantized_states = facts(training_.optimizer).quantizes_states && has_quantized_states(block, tensor);
    p.is_divided = tensor.partition == Partition::tensor && s_.tensor_parallel > 1;
    p.is_replicated = tensor.partition == Partition::replicated;
    p.is_partial = p.is_replicated && is_made_from_a_part(block, op);
    p.is_copy = tensor.tied;
    p.dimensions = static_cast<std::int32_t>(tensor.shape.size());
    p.heads = tensor.partition_units;
    p.starts = starts(op, tensor);
    p.box = box_of(op, tensor, p.name);
    place = static_cast<std::int32_t>(layout_.parameters.size());
    if (op.kind == OpKind::embedding) {
      embedding_ = place;
      p.is_end = is_tied_elsewhere_;
    }
    if (tensor.tied) {
      p.is_end = true;
      p.name = names_.front() + ".embedding.weight";
    }
    if (p.is_end && p.is_trained) layout_.tied_embedding = place;
    layout_.parameters.push_back(std::move(p));
  }

  /// A row-parallel linear's bias sees the whole gradient of its output.
  [[nodiscard]] bool is_made_from_a_part(const Block& block, const Op& op) const {
    if (s_.tensor_parallel == 1) return false;
    if (is_row_parallel(op)) return false;
    const Tensor& output = block.tensor(op.outputs.front());
    if (output.partition == Partition::sequence) return s_.sequence_parallel == SequenceParallel::on;
    return output.partition == Partition::tensor;
  }

  static InitialValues starts(const Op& op, const Tensor& tensor) {
    if (tensor.name.ends_with(".bias") || tensor.name.ends_with(".lora_b.weight")) return InitialValues::zeros;
    return is_token_norm(op.kind) ? InitialValues::ones : InitialValues::normal;
  }

  [[nodiscard]] TensorBox box_of(const Op& op, const Tensor& tensor, const std::string& name) const {
    check(tensor.shape.size() <= 3, "a parameter has at most three dimensions");
    TensorBox box;
    const std::size_t leading = 3 - tensor.shape.size();
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) box.whole[leading + i] = tensor.shape[i].factor;
    box.extent = box.whole;
    const auto at = [&](Axis axis) { return coordinate(s_, axis, rank_); };
    if (tensor.partition == Partition::tensor) {
      check(tensor.partition_units % s_.tensor_parallel == 0,
            "ranks divide the heads of " + name + ", or the capability check refuses them");
      divide(box, is_row_parallel(op) ? 2 : leading, s_.tensor_parallel, at(Axis::tensor), name);
    }
    if (tensor.partition == Partition::expert) {
      divide(box, leading, s_.expert_parallel, at(Axis::expert), name);
      if (s_.expert_tensor_parallel > 1)
        divide(box, is_row_parallel(op) ? 2 : 1, s_.expert_tensor_parallel, at(Axis::expert_tensor), name);
    }
    return box;
  }

  /// `first`: parameter of the unit.
  void add_section(Section section, std::size_t first, std::int64_t& whole, std::int64_t& trained) {
    std::int64_t matrices = 0;
    QuantizedParameters quantized;
    const auto append = [&](auto counts) {
      for (std::size_t i = first; i < layout_.parameters.size(); ++i) {
        LocalParameter& p = layout_.parameters[i];
        if (p.is_expert != section.is_expert || p.is_trained != section.is_trained || p.is_end != section.is_end)
          continue;
        if (!counts(p)) continue;
        p.section = static_cast<std::int32_t>(layout_.sections.size());
        p.first = section.elements;
        section.elements += p.elements();
        if (p.is_layer_matrix) matrices += p.elements();
        if (p.has_quantized_states) quantized.add({p.elements(), 1}, 1);
      }
    };
    // Where an optimizer keeps more of some, their order decides what each rank holds (most_states).
    if (facts(training_.optimizer).orthogonalises_matrices) {
      append([](const LocalParameter& p) { return p.is_layer_matrix; });
      append([](const LocalParameter& p) { return !p.is_layer_matrix; });
    } else {
      append([](const LocalParameter& p) { return p.has_quantized_states; });
      append([](const LocalParameter& p) { return !p.has_quantized_states; });
    }
    if (section.elements == 0) return;
    place(section);
    add_room_for_moments(section, matrices, quantized);
    section.unit_first = whole;
    section.unit_trained = trained;
    whole += section.padded;
    if (section.is_trained) trained += section.padded;
    layout_.sections.push_back(section);
  }

  void place(Section& section) {
    const ShardRanks ranks = shard_ranks(s_);
    section.ranks = static_cast<std::int32_t>(section.is_expert ? ranks.expert : ranks.dense);
    const Axis axis = section.is_expert ? Axis::expert_gradient : Axis::gradient;
    section.rank = rank_ / rank_group(s_, axis).stride % section.ranks;
    const ShardRanks replicas = replica_ranks(s_);
    section.padded = padded(section.elements, section.is_expert ? replicas.expert : replicas.dense);
    const ShardRanks secondary = secondary_ranks(s_);
    section.secondary_ranks = static_cast<std::int32_t>(section.is_expert ? secondary.expert : secondary.dense);
    section.secondary_rank = section.rank % section.secondary_ranks;
    section.secondary = layout_.secondary;
    if (section.has_secondary()) layout_.secondary += section.secondary_part();
    section.weights = layout_.weights;
    layout_.weights += s_.zero_stage >= 3 ? section.part() : section.padded;
    if (!section.is_trained) return;
    section.gradients = layout_.gradients;
    layout_.gradients += s_.zero_stage >= 2 ? section.part() : section.padded;
    section.states = layout_.states;
    layout_.states += section.part();
  }

  void add_owned() {
    for (std::int32_t i = 0; i < std::ssize(layout_.parameters); ++i) {
      const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(i)];
      if (!p.is_trained) continue;
      const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
      const ElementRange own = own_part(p, section);
      if (own.count == 0) continue;
      OwnedRange owned{i, own.first, own.count, section.states + p.first + own.first - section.part_begin(), {}};
      for (int state = 0; state < moments_of(p, training_.optimizer); ++state) {
        owned.moments[static_cast<std::size_t>(state)] = layout_.moments;
        layout_.moments += moment_values(p, owned.count);
      }
      layout_.owned.push_back(owned);
    }
    check(layout_.moments <= most_moments_, "a rank keeps no more moments than are predicted");
    layout_.moments = most_moments_;
    if (facts(training_.optimizer).factors_squares) add_squares();
  }

  /// Whole on all ranks that share a section.
  void add_squares() {
    for (LocalParameter& p : layout_.parameters) {
      if (!p.is_trained) continue;
      p.squares = layout_.moments;
      layout_.moments += p.squares_kept();
    }
  }

  /// Every rank has room for as many as the one that keeps most, which is the last (core/cost: most_states).
  void add_room_for_moments(const Section& section, std::int64_t matrices, QuantizedParameters quantized) {
    if (!section.is_trained) return;
    const OptimizerFacts& facts = plumbline::facts(training_.optimizer);
    if (facts.quantizes_states) {
      const std::int64_t plain = std::min(section.part(), section.padded - quantized.elements);
      most_moments_ +=
          facts.matrix_states * (most_quantized_state_values(section.part() - plain, quantized.tensors) + plain);
      return;
    }
    const std::int64_t others = std::min(section.part(), section.padded - matrices);
    most_moments_ += (section.part() - others) * facts.matrix_states + others * facts.other_states;
  }

  const Graph& graph_;
  const Strategy& s_;
  const Training& training_;
  std::int32_t rank_;
  std::vector<BlockId> sequence_;
  std::vector<std::string> names_;
  std::int32_t embedding_ = -1;
  std::int32_t first_of_unit_ = -1;  ///< of the one that is added
  std::int64_t most_moments_ = 0;
  bool is_tied_elsewhere_ = false;
  ParameterLayout layout_;
};

}  // namespace

FactoredSums LocalParameter::factored_sums(bool divides) const {
  FactoredSums sums;
  sums.matrices = box.extent[0];
  sums.values = squares_kept();
  if (!divides) return sums;
  sums.divided = sums.matrices;
  if (dimensions > 1) sums.shared = (box.extent[1] == box.whole[1] ? row_squares() : column_squares()).elements();
  return sums;
}

std::int64_t moment_values(const LocalParameter& parameter, std::int64_t count) {
  return parameter.has_quantized_states ? quantized_state_values(count) : count;
}

int moments_of(const LocalParameter& parameter, Optimizer optimizer) {
  return parameter.is_layer_matrix ? facts(optimizer).matrix_states : facts(optimizer).other_states;
}

ElementRange own_part(const LocalParameter& p, const Section& section) {
  const std::int64_t begin = std::max(p.first, section.part_begin());
  const std::int64_t end = std::min(p.first + p.elements(), section.part_begin() + section.part());
  return {begin - p.first, std::max<std::int64_t>(0, end - begin)};
}

std::int32_t ParameterLayout::find(std::int32_t execution, TensorId tensor) const {
  const auto& tensors = index[static_cast<std::size_t>(execution)];
  return tensors.empty() ? -1 : tensors[static_cast<std::size_t>(tensor.index())];
}

ParameterLayout parameter_layout(const Graph& graph, const Strategy& strategy, const Training& training,
                                 const std::vector<Chunk>& chunks, std::int32_t rank) {
  return Builder(graph, strategy, training, rank).build(chunks);
}

}  // namespace plumbline
