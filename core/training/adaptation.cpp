#include "core/training/adaptation.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

enum class BlockTraining : bool { frozen, trained };

void freeze_parameters(Block::Parts& parts) {
  for (Tensor& tensor : parts.tensors)
    if (tensor.role == TensorRole::parameter) tensor.trainable = false;
}

TensorId append(Block::Parts& parts, Tensor tensor) {
  parts.tensors.push_back(std::move(tensor));
  return TensorId(static_cast<std::int32_t>(parts.tensors.size()) - 1);
}

/// One adapter linear: `in` -> `features`, with its weight.
Op adapter_linear(Block::Parts& parts, const std::string& name, TensorId in, const Tensor& like, std::int64_t features,
                  WeightPartition weight) {
  Op op{OpKind::linear,
        name,
        LinearAttributes{parts.tensors[static_cast<std::size_t>(in.index())].shape.back().factor, weight},
        {in},
        {},
        {}};
  const std::int64_t in_features = std::get<LinearAttributes>(op.attributes).in_features;
  Tensor out = like;
  out.name = name;
  out.shape.back() = fixed_dimension(features);
  op.outputs.push_back(append(parts, out));
  const Partition partition = weight == WeightPartition::replicated ? Partition::replicated : Partition::tensor;
  const std::int64_t units = weight == WeightPartition::column ? like.partition_units : 0;
  op.parameters.push_back(append(parts, {name + ".weight",
                                         {fixed_dimension(features), fixed_dimension(in_features)},
                                         TensorRole::parameter,
                                         ElementKind::compute,
                                         partition,
                                         units,
                                         true,
                                         false}));
  return op;
}

/// y + B(A(x)) for one output y of a linear. Tensor-parallel ranks divide B of a column-parallel linear and A of a
/// row-parallel one, along the dimension in which the base weight is divided. The output of A is reduced, or scattered
/// under sequence parallelism, as y is, so that B sees the same tokens as y (core/program/block_program.h).
void add_adapter(Block::Parts& parts, std::vector<Op>& added, const Op& base, std::size_t output, std::int64_t rank) {
  const auto attributes = std::get<LinearAttributes>(base.attributes);
  const TensorId x = base.inputs.front();
  const TensorId y = base.outputs[output];
  const Tensor y_tensor = parts.tensors[static_cast<std::size_t>(y.index())];
  const std::string name = y_tensor.name + ".lora";
  Tensor inner = parts.tensors[static_cast<std::size_t>(x.index())];
  inner.role = TensorRole::activation;
  inner.partition_units = 0;
  if (attributes.partition == WeightPartition::row) inner.partition = y_tensor.partition;
  const WeightPartition first =
      attributes.partition == WeightPartition::row ? WeightPartition::row : WeightPartition::replicated;
  const WeightPartition second =
      attributes.partition == WeightPartition::column ? WeightPartition::column : WeightPartition::replicated;
  Op a = adapter_linear(parts, name + "_a", x, inner, rank, first);
  Op b = adapter_linear(parts, name + "_b", a.outputs.front(), y_tensor, y_tensor.shape.back().factor, second);
  Tensor sum_tensor = y_tensor;
  sum_tensor.name = name;
  Op sum{OpKind::add, name, {}, {y, b.outputs.front()}, {}, {append(parts, sum_tensor)}};
  const TensorId adapted_y = sum.outputs.front();
  for (Op& op : parts.ops) std::replace(op.inputs.begin(), op.inputs.end(), y, adapted_y);
  for (Op& op : added) std::replace(op.inputs.begin(), op.inputs.end(), y, adapted_y);
  std::replace(parts.outputs.begin(), parts.outputs.end(), y, adapted_y);
  added.push_back(std::move(a));
  added.push_back(std::move(b));
  added.push_back(std::move(sum));
}

/// By op, whether an attention core reads what it writes, directly or through other ops than attention.
std::vector<bool> feeds_attention(const std::vector<Op>& ops, std::size_t tensors) {
  std::vector<bool> feeds(ops.size(), false);
  std::vector<bool> is_read(tensors, false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t o = 0; o < ops.size(); ++o) {
      const auto is_wanted = [&](TensorId id) { return is_read[static_cast<std::size_t>(id.index())]; };
      if (feeds[o]) continue;
      const bool is_core = ops[o].kind == OpKind::attention;
      if (!is_core && std::none_of(ops[o].outputs.begin(), ops[o].outputs.end(), is_wanted)) continue;
      feeds[o] = changed = true;
      for (const TensorId id : ops[o].inputs) is_read[static_cast<std::size_t>(id.index())] = true;
    }
  }
  return feeds;
}

/// By op, whether it is a linear that reads what an attention core wrote, directly or through other ops than linears.
std::vector<bool> reads_attention(const std::vector<Op>& ops, std::size_t tensors) {
  std::vector<bool> reads(ops.size(), false);
  std::vector<bool> is_written(tensors, false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t o = 0; o < ops.size(); ++o) {
      const auto is_of_core = [&](TensorId id) { return is_written[static_cast<std::size_t>(id.index())]; };
      if (reads[o]) continue;
      const bool is_core = ops[o].kind == OpKind::attention;
      if (!is_core && std::none_of(ops[o].inputs.begin(), ops[o].inputs.end(), is_of_core)) continue;
      reads[o] = changed = true;
      if (ops[o].kind == OpKind::linear) continue;
      for (const TensorId id : ops[o].outputs) is_written[static_cast<std::size_t>(id.index())] = true;
    }
  }
  return reads;
}

/// By op, whether it is a target where it is a linear.
std::vector<bool> lora_targets(const std::vector<Op>& ops, std::size_t tensors, LoraTargets targets) {
  if (targets == LoraTargets::every_linear) return std::vector<bool>(ops.size(), true);
  std::vector<bool> is_target = feeds_attention(ops, tensors);
  if (targets == LoraTargets::queries_keys_values) return is_target;
  const std::vector<bool> reads = reads_attention(ops, tensors);
  for (std::size_t o = 0; o < ops.size(); ++o) is_target[o] = is_target[o] || reads[o];
  return is_target;
}

void add_lora(Block::Parts& parts, const Adaptation& adaptation) {
  const std::int64_t rank = adaptation.lora_rank;
  std::vector<Op> added;
  const std::vector<Op> base = parts.ops;
  const std::vector<bool> is_target = lora_targets(base, parts.tensors.size(), adaptation.lora_targets);
  for (std::size_t o = 0; o < base.size(); ++o) {
    const Op& op = base[o];
    if (op.kind != OpKind::linear || !is_target[o]) continue;
    for (std::size_t output = 0; output < op.outputs.size(); ++output) add_adapter(parts, added, op, output, rank);
  }
  parts.ops.insert(parts.ops.end(), added.begin(), added.end());
}

bool trains_anything(const Block::Parts& parts) {
  return std::any_of(parts.tensors.begin(), parts.tensors.end(),
                     [](const Tensor& t) { return t.role == TensorRole::parameter && t.trainable; });
}

bool is_frozen_layer(const Adaptation& adaptation, std::int64_t layer) {
  return std::any_of(adaptation.frozen_layers.begin(), adaptation.frozen_layers.end(),
                     [&](const LayerRange& range) { return range.first <= layer && layer <= range.last; });
}

void check_ranges(const Graph& graph, const Adaptation& adaptation) {
  const std::int64_t layers = graph.layer_count();
  for (const LayerRange& range : adaptation.frozen_layers)
    if (range.first < 0 || range.last < range.first || range.last >= layers)
      throw InputError({"frozen layers",
                        std::to_string(range.first) + "-" + std::to_string(range.last) + " lie outside " + graph.name(),
                        "layers between 0 and " + std::to_string(layers - 1), ""});
}

/// Collects executions and merges equal neighbours into runs, so that repeated layers stay one block.
class RunCollector {
 public:
  void add(BlockId original, BlockTraining trained, bool needs_gradient, const Block::Parts& parts) {
    const Key key{original, trained, needs_gradient};
    const auto found = std::find(keys_.begin(), keys_.end(), key);
    const auto index = static_cast<std::int32_t>(found - keys_.begin());
    if (found == keys_.end()) {
      keys_.push_back(key);
      blocks_.emplace_back(parts);
    }
    if (!runs_.empty() && runs_.back().block == BlockId(index)) {
      ++runs_.back().count;
    } else {
      runs_.push_back({BlockId(index), 1});
    }
  }
  Graph graph(const std::string& name) { return Graph(name, std::move(blocks_), std::move(runs_)); }

 private:
  struct Key {
    BlockId original;
    BlockTraining trained;
    bool needs_gradient;
    bool operator==(const Key&) const = default;
  };
  std::vector<Key> keys_;
  std::vector<Block> blocks_;
  std::vector<BlockRun> runs_;
};

}  // namespace

Graph adapted(const Graph& graph, const Adaptation& adaptation) {
  check_ranges(graph, adaptation);
  RunCollector collector;
  bool trained_before = false;
  std::int64_t layer = 0;
  for (const BlockId id : graph.sequence()) {
    const Block& block = graph.block(id);
    const bool is_layer = block.kind() == BlockKind::layer;
    const bool frozen =
        adaptation.lora_rank > 0 || (is_layer ? is_frozen_layer(adaptation, layer)
                                              : block.kind() == BlockKind::input && adaptation.freeze_embeddings);
    if (is_layer) ++layer;
    Block::Parts parts = block.parts();
    parts.needs_input_gradient = trained_before;
    if (frozen) freeze_parameters(parts);
    if (adaptation.freeze_embeddings)
      for (Tensor& tensor : parts.tensors)
        if (tensor.tied) tensor.trainable = false;
    if (is_layer && adaptation.lora_rank > 0) add_lora(parts, adaptation);
    const bool trains = trains_anything(parts);
    collector.add(id, frozen ? BlockTraining::frozen : BlockTraining::trained, trained_before, parts);
    trained_before = trained_before || trains;
  }
  return collector.graph(graph.name());
}

}  // namespace plumbline
