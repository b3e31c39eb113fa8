#include "core/sharding/op_work.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// One op with its surroundings looked up once.
struct View {
  const Block& block;
  const Op& op;
  const Shard& shard;

  const Tensor& in(std::size_t i) const { return block.tensor(op.inputs[i]); }
  const Tensor& out(std::size_t i) const { return block.tensor(op.outputs[i]); }
  Bytes in_bytes(std::size_t i) const { return local_bytes(in(i), shard); }
  Bytes out_bytes(std::size_t i) const { return local_bytes(out(i), shard); }
};

GradientNeed gradient_need(const Block& block, const Op& op) {
  const auto carries = [&](TensorId id) { return block.carries_gradient()[static_cast<std::size_t>(id.index())]; };
  return {std::any_of(op.inputs.begin(), op.inputs.end(), carries),
          std::any_of(op.parameters.begin(), op.parameters.end(), carries)};
}

void set_product(OpWork& work, WorkKind kind, const MatrixProduct& product) {
  work.kind = kind;
  work.product = product;
  work.forward = product.flops();
  if (work.needs.input) work.backward_input = product.flops();
  if (work.needs.weight) work.backward_weight = product.flops();
}

OpWork linear_work(const View& v, OpWork work) {
  const auto& attributes = std::get<LinearAttributes>(v.op.attributes);
  const std::int64_t ranks = v.shard.tensor_parallel;
  std::int64_t width = 0;
  for (const TensorId id : v.op.outputs) {
    const Tensor& out = v.block.tensor(id);
    const std::int64_t features = out.shape.back().factor;
    width +=
        attributes.partition == WeightPartition::column ? local_width(features, out.partition_units, ranks) : features;
  }
  // Tensor-parallel regions work on all tokens of the context-parallel slice; replicated linears on their input's.
  Tensor rows = v.in(0);
  if (attributes.partition != WeightPartition::replicated) rows.partition = Partition::tensor;
  const std::int64_t k =
      attributes.partition == WeightPartition::row ? divided(attributes.in_features, ranks) : attributes.in_features;
  set_product(work, WorkKind::product, {1, local_rows(rows, v.shard), width, k});
  return work;
}

OpWork grouped_work(const View& v, OpWork work) {
  const auto& a = std::get<GroupedLinearAttributes>(v.op.attributes);
  const std::int64_t local_experts = std::max<std::int64_t>(1, divided(a.experts, v.shard.expert_parallel));
  Tensor routed = v.in(0);
  routed.partition = Partition::routed;
  const std::int64_t rows = local_rows(routed, v.shard);
  const std::int64_t etp = v.shard.expert_tensor_parallel;
  std::int64_t width = 0;
  for (const TensorId id : v.op.outputs) width += v.block.tensor(id).shape.back().factor;
  const bool column = a.partition == WeightPartition::column;
  const MatrixProduct all{1, rows, column ? divided(width, etp) : width,
                          column ? a.in_features : divided(a.in_features, etp)};
  set_product(work, WorkKind::grouped_product, all);
  work.product = MatrixProduct{local_experts, divided(rows, local_experts), all.n, all.k};
  return work;
}

OpWork attention_work(const View& v, OpWork work) {
  const auto& a = std::get<AttentionAttributes>(v.op.attributes);
  const Shape& query = v.in(0).shape;
  const Shape& key = v.in(1).shape;
  const std::int64_t tokens = size_of(query[1], v.shard.lengths);
  const std::int64_t attended = size_of(key[1], v.shard.lengths);
  AttentionWork attention;
  attention.batch = size_of(query[0], v.shard.lengths);
  attention.heads = divided(a.heads, v.shard.head_ranks());
  attention.kv_heads = divided(a.kv_heads, v.shard.head_ranks());
  attention.queries = query[1].symbol == Symbol::sequence ? divided(tokens, v.shard.query_ranks()) : tokens;
  attention.keys = a.window > 0 ? std::min(a.window, attended) : attended;
  attention.qk_head_dim = a.qk_head_dim;
  attention.v_head_dim = a.v_head_dim;
  attention.causal = a.causal && (a.window <= 0 || a.window >= attended);  // a window is already the smaller triangle
  attention.dropout = a.dropout;
  if (a.document > 0 && a.document < tokens) {  // as that many sequences of their own
    attention.batch *= tokens / a.document;
    attention.queries = divided(a.document, v.shard.query_ranks());
    attention.keys = a.document;
  }
  work.kind = WorkKind::attention;
  work.forward = Flops(2.0 * attention.scores() * static_cast<double>(a.qk_head_dim + a.v_head_dim));
  // Each of the two products has one backward product per operand; all four belong to the inputs.
  if (work.needs.input) work.backward_input = 2.0 * work.forward;
  work.attention = attention;
  return work;
}

OpWork delta_rule_op_work(const View& v, OpWork work) {
  const DeltaRuleWork rule = delta_rule_work(std::get<DeltaRuleAttributes>(v.op.attributes), v.in(0), v.shard);
  work.kind = WorkKind::delta_rule;
  work.forward = rule.flops();
  work.forward_traffic = storage(rule.moved_forward(), v.shard.formats.activation);
  if (work.needs.input) {
    work.backward_input = 2.0 * work.forward;
    work.backward_traffic = storage(rule.moved_backward(), v.shard.formats.activation);
  }
  work.delta_rule = rule;
  return work;
}

OpWork batched_matmul_work(const View& v, OpWork work) {
  const Shape& a = v.in(0).shape;
  const std::int64_t k = size_of(a.back(), v.shard.lengths);
  const std::int64_t m = size_of(a[a.size() - 2], v.shard.lengths);
  const std::int64_t n = size_of(v.in(1).shape.back(), v.shard.lengths);
  const std::int64_t batch = local_elements(v.in(0), v.shard) / std::max<std::int64_t>(1, m * k);
  set_product(work, WorkKind::product, {std::max<std::int64_t>(1, batch), m, n, k});
  const auto carries = [&](std::size_t i) {
    return v.block.carries_gradient()[static_cast<std::size_t>(v.op.inputs[i].index())];
  };
  work.backward_input = work.forward * ((carries(0) ? 1.0 : 0.0) + (carries(1) ? 1.0 : 0.0));
  work.backward_weight = Flops(0);
  return work;
}

/// As a convolution of the output gradient, cut into one for each place in a stride: as many elements of the kernel
/// meet an input element in each. A stride that is longer than the kernel leaves elements out, whose gradient is zero.
MatrixProduct input_gradient_product(const ConvolutionAttributes& a, std::int64_t positions) {
  const std::int64_t taps = a.kernel_height * a.kernel_width;
  const std::int64_t places = std::min(taps, a.stride * a.stride);
  return {a.groups, positions * places, a.in_channels / a.groups, divided(a.out_channels / a.groups * taps, places)};
}

OpWork convolution_work(const View& v, OpWork work) {
  const auto& a = std::get<ConvolutionAttributes>(v.op.attributes);
  const Shape& out = v.out(0).shape;
  const std::int64_t positions = size_of(out[0], v.shard.lengths) * out[2].factor * out[3].factor;
  // As an implicit product per group: positions x (channels * kernel) x output channels.
  const MatrixProduct product{a.groups, positions, a.out_channels / a.groups,
                              a.in_channels / a.groups * a.kernel_height * a.kernel_width};
  set_product(work, WorkKind::product, product);
  const std::int64_t input = local_elements(v.in(0), v.shard);
  work.convolution = ConvolutionWork{std::min(input, product.batch * product.m * product.k), input,
                                     product.batch * product.k * product.n, product.batch * product.m * product.n,
                                     input_gradient_product(a, positions)};
  return work;
}

OpWork router_work(const View& v, OpWork work) {
  const auto& a = std::get<RouterAttributes>(v.op.attributes);
  set_product(work, WorkKind::product, {1, local_rows(v.in(0), v.shard), a.experts, v.in(0).shape.back().factor});
  return work;
}

/// Bytes that memory-bound operators read and write.
OpWork memory_work(const View& v, OpWork work) {
  const Bytes y = v.out_bytes(0);
  const auto set = [&](Bytes forward, Bytes backward) {
    work.forward_traffic = forward;
    if (work.needs.input || work.needs.weight) work.backward_traffic = backward;
  };
  switch (v.op.kind) {
    case OpKind::pooling:
    case OpKind::upsample: set(v.in_bytes(0) + y, v.in_bytes(0) + y); break;
    case OpKind::dispatch: {
      // One row per choice is gathered and, after the all-to-all, sorted by expert; the gradients of choices are
      // summed.
      const Bytes sorting = v.shard.expert_parallel > 1 ? 2 * y : Bytes(0);
      set(2 * y + sorting, v.in_bytes(0) + y + sorting);
      break;
    }
    case OpKind::combine: {
      // Back in the order of the tokens, and summed with weights, whose gradients read what was summed again.
      const Bytes chosen = v.in_bytes(0);
      const Bytes sorting = v.shard.expert_parallel > 1 ? 2 * chosen : Bytes(0);
      set(chosen + y + sorting, 3 * chosen + sorting);
      break;
    }
    case OpKind::cross_entropy: {
      // fp32 softmax over the logits: read, cast, written and read in fp32, and back, whatever format they are in.
      const Bytes passed = std::int64_t{12} * Bytes(local_elements(v.in(0), v.shard));
      set(passed, passed);
      break;
    }
    default: {
      const OpRecord& record = record_of(v.op.kind);
      const bool has_mask = record.backward_reads == BackwardReads::mask;
      const Bytes mask = has_mask ? storage(local_elements(v.out(0), v.shard), NumberFormat::int8) : Bytes(0);
      set(record.moved.forward * y + mask, record.moved.backward * y + mask);
    }
  }
  return work;
}

}  // namespace

OpWork op_work(const Block& block, const Op& op, const Shard& shard) {
  const View view{block, op, shard};
  OpWork work;
  work.needs = gradient_need(block, op);
  switch (op.kind) {
    case OpKind::linear: return linear_work(view, work);
    case OpKind::grouped_linear: return grouped_work(view, work);
    case OpKind::attention: return attention_work(view, work);
    case OpKind::delta_rule: return delta_rule_op_work(view, work);
    case OpKind::batched_matmul: return batched_matmul_work(view, work);
    case OpKind::convolution: return convolution_work(view, work);
    case OpKind::router: return router_work(view, work);
    default: return memory_work(view, work);
  }
}

BlockFlops block_flops(const Block& block, const Shard& shard) {
  BlockFlops sum;
  for (const Op& op : block.ops()) {
    const OpWork work = op_work(block, op, shard);
    sum.forward += work.forward;
    sum.backward_input += work.backward_input;
    sum.backward_weight += work.backward_weight;
  }
  return sum;
}

BlockFlops graph_flops(const Graph& graph, const Shard& shard) {
  BlockFlops sum;
  for (const BlockRun& run : graph.runs()) {
    const BlockFlops one = block_flops(graph.block(run.block), shard);
    const auto count = static_cast<double>(run.count);
    sum.forward += count * one.forward;
    sum.backward_input += count * one.backward_input;
    sum.backward_weight += count * one.backward_weight;
  }
  return sum;
}

}  // namespace plumbline
