#include "core/sharding/saved_tensors.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/sharding/delta_rule_work.h"
#include "core/sharding/product_format.h"
#include "core/sharding/side_tensors.h"

namespace plumbline {
namespace {

class Collector {
 public:
  Collector(const Block& block, const Shard& shard)
      : block_(block), shard_(shard), kept_(block.tensors().size(), false), gathered_(kept_) {}

  void keep(TensorId id, SavedKind kind = SavedKind::tensor) {
    const auto slot = static_cast<std::size_t>(id.index());
    const Tensor& tensor = block_.tensor(id);
    if (kept_[slot] || tensor.element == ElementKind::index) return;
    kept_[slot] = true;
    saved_.push_back({tensor.name, kind, local_bytes(tensor, shard_), id, OpId()});
  }
  /// Once for all products that read it.
  void keep_gathered(TensorId id) {
    const auto slot = static_cast<std::size_t>(id.index());
    if (gathered_[slot]) return;
    gathered_[slot] = true;
    const Tensor& tensor = block_.tensor(id);
    saved_.push_back({tensor.name + ".gathered", SavedKind::gathered, gathered_bytes(tensor, shard_), id, OpId()});
  }
  void keep_extra(const std::string& name, SavedKind kind, Bytes bytes) {
    saved_.push_back({name, kind, bytes, TensorId(), current_});
  }

  void collect(OpId id) {
    const Op& op = block_.op(id);
    if (any_carries(op.inputs) || any_carries(op.parameters)) collect_always(id);  // no backward, nothing kept
  }
  void collect_always(OpId id) {
    current_ = id;
    collect(block_.op(id));
  }
  std::vector<SavedTensor> take() { return std::move(saved_); }

 private:
  void collect(const Op& op);
  bool carries(TensorId id) const { return block_.carries_gradient()[static_cast<std::size_t>(id.index())]; }
  bool any_carries(const std::vector<TensorId>& ids) const {
    return std::any_of(ids.begin(), ids.end(), [&](TensorId id) { return carries(id); });
  }
  void collect_own(const Op& op);
  void collect_norm(const Op& op);
  void keep_exchanged(TensorId id, SavedKind kind);
  void collect_attention(const Op& op);
  void collect_delta_rule(const Op& op);
  void collect_combine(const Op& op);
  void collect_product(const Op& op);
  /// FlashAttention's output.
  bool is_kept_by_attention(TensorId id) const {
    const OpId producer = block_.producer(id);
    return producer.is_valid() && block_.op(producer).kind == OpKind::attention &&
           kept_[static_cast<std::size_t>(id.index())];
  }
  [[nodiscard]] bool keeps_gathered(const Op& op) const {
    return shard_.kept.gathered_inputs == GatheredInputs::kept && is_column_parallel(op) &&
           is_sliced(block_.tensor(op.inputs.front()), shard_);
  }
  void collect_activation(const Op& op);
  void collect_gate(const Op& op);

  const Block& block_;
  const Shard& shard_;
  std::vector<bool> kept_;
  std::vector<bool> gathered_;  ///< by tensor: its rows of all ranks are kept
  std::vector<SavedTensor> saved_;
  OpId current_;
};

void Collector::collect_norm(const Op& op) {
  const Tensor& x = block_.tensor(op.inputs.front());
  keep(op.inputs.front());
  // A batch norm has a row per channel.
  const std::int64_t width = block_.tensor(op.parameters.front()).shape.back().factor;
  const std::int64_t rows = op.kind == OpKind::batch_norm ? width : local_elements(x, shard_) / width;
  keep_extra(op.name + ".statistics", SavedKind::statistics,
             storage(rows * record_of(op.kind).statistics_per_row, NumberFormat::fp32));
}

/// With all tokens and a part of the heads it has as many bytes. Where selective recompute drops those of queries, keys
/// and values, it keeps as many of what they were exchanged from.
void Collector::keep_exchanged(TensorId id, SavedKind kind) {
  const Tensor& tensor = block_.tensor(id);
  keep_extra(tensor.name + ".exchanged", kind, local_bytes(tensor, shard_));
}

void Collector::collect_attention(const Op& op) {
  const auto& a = std::get<AttentionAttributes>(op.attributes);
  const bool exchanges = shard_.exchanges_heads();
  for (const TensorId input : op.inputs) {
    if (exchanges)
      keep_exchanged(input, SavedKind::tensor);
    else
      keep(input);
  }
  const Shape& query = block_.tensor(op.inputs[0]).shape;
  const Shape& key = block_.tensor(op.inputs[1]).shape;
  const std::int64_t tokens = size_of(query[1], shard_.lengths);
  const std::int64_t queries = query[1].symbol == Symbol::sequence ? divided(tokens, shard_.context_parallel) : tokens;
  const std::int64_t rows = size_of(query[0], shard_.lengths) * divided(a.heads, shard_.tensor_parallel) * queries;
  if (shard_.flash_attention == FlashAttention::on) {
    if (exchanges)
      keep_exchanged(op.outputs.front(), SavedKind::attention_core);
    else
      keep(op.outputs.front());
    keep_extra(op.name + ".log_sum_exp", exchanges ? SavedKind::attention_core : SavedKind::statistics,
               storage(rows, NumberFormat::fp32));
    return;
  }
  const std::int64_t scores = rows * size_of(key[1], shard_.lengths);
  keep_extra(op.name + ".probabilities", SavedKind::attention_core, storage(scores, shard_.formats.activation));
  if (!a.dropout) return;
  keep_extra(op.name + ".dropout_mask", SavedKind::attention_core, storage(scores, NumberFormat::int8));
  keep_extra(op.name + ".dropped_probabilities", SavedKind::attention_core, storage(scores, shard_.formats.activation));
}

/// Its kernels keep copies of their own, not the tensor that queries, keys and values came in.
void Collector::collect_delta_rule(const Op& op) {
  const DeltaRuleWork rule =
      delta_rule_work(std::get<DeltaRuleAttributes>(op.attributes), block_.tensor(op.inputs[0]), shard_);
  keep(op.inputs[1]);
  keep_extra(op.name + ".vectors", SavedKind::tensor, storage(rule.kept_vectors(), shard_.formats.activation));
  keep_extra(op.name + ".inverses", SavedKind::tensor, storage(rule.kept_inverses(), shard_.formats.activation));
  keep_extra(op.name + ".statistics", SavedKind::statistics, storage(rule.kept_statistics(), NumberFormat::fp32));
}

/// Every product makes a copy of its own.
void Collector::collect_product(const Op& op) {
  if (!any_carries(op.parameters)) return;
  const NumberFormat format = product_format(block_, op, shard_);
  if (shard_.kept.product_inputs == ProductInputs::as_read || !is_quantized(format)) {
    if (keeps_gathered(op)) return keep_gathered(op.inputs.front());
    return keep(op.inputs.front());
  }
  const Tensor& input = block_.tensor(op.inputs.front());
  if (shard_.kept.product_inputs == ProductInputs::shared && is_kept_by_attention(op.inputs.front())) return;
  keep_extra(op.name + ".input", SavedKind::input_copy, storage(local_elements(input, shard_), format));
}

/// Router's weights that scale an activation need it as it was; a gated one is made again by the same kernel.
void Collector::collect_activation(const Op& op) {
  keep(op.inputs.front());
  const Tensor& output = block_.tensor(op.outputs.front());
  if (shard_.kept.expert_weighting == ExpertWeighting::of_activations && output.partition == Partition::routed_tensor)
    keep_extra(op.name + ".unweighted", SavedKind::tensor, local_bytes(output, shard_));
}

/// Clamps that have kernels of their own keep what they read, the gate what they make. Copies in 8 bits are the gate's
/// alone, as are those of products.
void Collector::collect_gate(const Op& op) {
  const auto* gate = std::get_if<GatedActivationAttributes>(&op.attributes);
  const bool copies =
      shard_.kept.limited_gates == LimitedGates::copied && gate != nullptr && gate->limits == GateLimits::yes;
  for (const TensorId input : op.inputs) {
    if (shard_.kept.gate_inputs == GateInputs::in_8_bits)
      keep_extra(block_.tensor(input).name + ".stored", SavedKind::tensor,
                 storage(local_elements(block_.tensor(input), shard_), NumberFormat::fp8_e4m3));
    else
      keep(input);
    if (copies)
      keep_extra(block_.tensor(input).name + ".limited", SavedKind::tensor, local_bytes(block_.tensor(input), shard_));
  }
}

/// Expert outputs, for the gradient of the router's weights: where the tokens are. Ranks that divide an expert each
/// make a part of them, whose sum is what returns.
void Collector::collect_combine(const Op& op) {
  if (shard_.kept.expert_weighting == ExpertWeighting::of_activations) return;
  const Tensor& outputs = block_.tensor(op.inputs.front());
  if (shard_.experts_exchange())
    keep_extra(op.name + ".returned", SavedKind::tensor, chosen_bytes(outputs, shard_));
  else
    keep(op.inputs.front());
}

void Collector::collect(const Op& op) {
  switch (record_of(op.kind).backward_reads) {
    case BackwardReads::nothing: break;
    case BackwardReads::input: keep(op.inputs.front()); break;
    case BackwardReads::output: keep(op.outputs.front()); break;
    case BackwardReads::mask:
      keep_extra(op.name + ".mask", SavedKind::mask,
                 storage(local_elements(block_.tensor(op.outputs.front()), shard_), NumberFormat::int8));
      break;
    case BackwardReads::input_and_statistics: collect_norm(op); break;
    case BackwardReads::own: collect_own(op); break;
  }
}

void Collector::collect_own(const Op& op) {
  switch (op.kind) {
    case OpKind::linear:
    case OpKind::grouped_linear: collect_product(op); break;
    case OpKind::convolution:
      if (any_carries(op.parameters)) keep(op.inputs.front());
      break;
    case OpKind::router:  // its input, the probabilities and the logits they came from
      keep(op.inputs.front());
      keep(op.outputs.front());
      keep_extra(op.name + ".logits", SavedKind::tensor, local_bytes(block_.tensor(op.outputs.front()), shard_));
      break;
    case OpKind::batched_matmul:
      if (carries(op.inputs[1])) keep(op.inputs[0]);
      if (carries(op.inputs[0])) keep(op.inputs[1]);
      break;
    case OpKind::attention: collect_attention(op); break;
    case OpKind::delta_rule: collect_delta_rule(op); break;
    case OpKind::activation: collect_activation(op); break;
    case OpKind::gated_activation: collect_gate(op); break;
    case OpKind::combine: collect_combine(op); break;
    default: check(false, "an operator that says so has a rule of what is saved for it");
  }
}

}  // namespace

std::vector<SavedTensor> saved_tensors(const Block& block, const Shard& shard) {
  Collector collector(block, shard);
  for (const OpId id : block.execution_order()) collector.collect(id);
  return collector.take();
}

std::vector<SavedTensor> side_tensors(const Block& block, const Shard& shard) {
  Collector collector(block, shard);
  for (const OpId id : block.execution_order()) collector.collect_always(id);
  std::vector<SavedTensor> sides = collector.take();
  std::erase_if(sides, [](const SavedTensor& s) { return !s.op.is_valid(); });
  return sides;
}

Bytes saved_bytes(const std::vector<SavedTensor>& saved, RecomputeMode mode, Bytes block_input) {
  Bytes sum(0);
  for (const SavedTensor& s : saved)
    if (mode != RecomputeMode::selective || s.kind != SavedKind::attention_core) sum += s.bytes;
  return mode == RecomputeMode::full ? std::min(block_input, sum) : sum;
}

Bytes boundary_bytes(const Block& block, const Shard& shard) {
  Bytes sum(0);
  for (const TensorId input : block.inputs()) sum += local_bytes(block.tensor(input), shard);
  return sum;
}

}  // namespace plumbline
