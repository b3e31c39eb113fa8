#include <algorithm>

#include "core/program/block_passes.h"
#include "core/program/gathered_rows.h"
#include "core/program/head_exchange.h"
#include "core/program/row_exchange.h"

namespace plumbline {
namespace {

/// A forward, or what a recompute makes again of it.
class ForwardLowering {
 public:
  ForwardLowering(const BlockFacts& facts, BlockEmitter& emit, BlockValues& values, BlockPass pass)
      : f_(facts),
        emit_(emit),
        values_(values),
        pass_(pass),
        is_first_(pass == BlockPass::forward),
        gathered_(facts, emit, values.gathered) {}

  void run() {
    emit_.begin(pass_);
    for (const OpId id : f_.block.execution_order())
      if (runs(id)) lower(id, f_.block.op(id));
  }

 private:
  /// Of the operator at hand.
  struct Made {
    std::vector<std::int32_t> outputs;  ///< what the kernel writes; with the rows of all ranks where those are summed
    std::vector<std::int32_t> slices;   ///< this rank's part of them; none: the output itself
    std::vector<std::int32_t> sides;
    std::vector<std::int32_t> passing;  ///< gone behind the operator

    void clear() {
      for (std::vector<std::int32_t>* all : {&outputs, &slices, &sides, &passing}) all->clear();
    }
  };

  [[nodiscard]] bool runs(OpId id) const { return is_first_ || f_.rule.replays[slot(id)]; }
  [[nodiscard]] bool skips(TensorId output) const { return !is_first_ && f_.rule.skips(output); }
  [[nodiscard]] MemoryClass class_of(TensorId output) const {
    if (f_.is_logits(output)) return MemoryClass::logits_and_loss;
    return is_first_ && f_.rule.keeps_tensor[slot(output)] ? MemoryClass::activations : MemoryClass::working_buffers;
  }
  [[nodiscard]] MemoryClass of_gathered(TensorId input) const {
    return is_first_ && f_.rule.keeps_gathered[slot(input)] ? MemoryClass::activations : MemoryClass::working_buffers;
  }
  [[nodiscard]] bool leaves_gathered(TensorId input) const {
    return (is_first_ ? f_.rule.keeps_gathered : f_.rule.restores_gathered)[slot(input)];
  }
  [[nodiscard]] std::int32_t value(TensorId id) const { return values_.tensors[slot(id)]; }

  void lower(OpId id, const Op& op) {
    Made& made = made_;
    made.clear();
    switch (op.kind) {
      case OpKind::cross_entropy: loss(id, op, made); break;
      case OpKind::dispatch: dispatch(id, op, made); break;
      case OpKind::combine: combine(id, op, made); break;
      default:
        if (f_.exchanges_heads(op))
          attention_by_heads(id, op, made);
        else
          compute(id, op, made);
        break;
    }
    store(id, op, made);
    for (std::int32_t& buffer : made.passing) emit_.release(buffer);
    for (const TensorId tensor : op.inputs) release_behind(tensor, id);
    for (const TensorId tensor : op.outputs) release_behind(tensor, id);
  }

  void make_outputs(const Op& op, Made& made) {
    for (const TensorId output : op.outputs) {
      made.slices.push_back(no_buffer);
      if (skips(output)) {
        made.outputs.push_back(no_buffer);
        continue;
      }
      if (f_.is_summed_over_ranks(op) && f_.is_sliced(output)) {
        made.outputs.push_back(emit_.allocate({output, BufferRows::whole}));
        made.passing.push_back(made.outputs.back());
        made.slices.back() = emit_.allocate({output}, class_of(output));
      } else {
        made.outputs.push_back(emit_.allocate({output}, class_of(output)));
      }
    }
  }
  void make_sides(OpId id, Made& made, MemoryClass otherwise = MemoryClass::working_buffers) {
    const bool keeps = is_first_ && f_.rule.keeps_side[slot(id)];
    for (std::size_t i = 0; i < f_.sides(id).size(); ++i)
      made.sides.push_back(emit_.allocate(side_of(id, i), keeps ? MemoryClass::activations : otherwise));
  }

  void compute(OpId id, const Op& op, Made& made) {
    make_outputs(op, made);
    make_sides(id, made);
    std::vector<std::int32_t>& operands = operands_;
    operands.clear();
    for (const TensorId input : op.inputs)
      operands.push_back(BlockFacts::is_column_parallel(op)
                             ? gathered_.rows(id, input, value(input), of_gathered(input))
                             : value(input));
    operands.insert(operands.end(), made.outputs.begin(), made.outputs.end());
    operands.insert(operands.end(), made.sides.begin(), made.sides.end());
    if (!f_.runs_ring(op)) {
      emit_.kernel(id, KernelRole::forward, operands);
      if (f_.is_summed_over_ranks(op) && f_.is_divided()) sum_over_ranks(id, op, made);
      return;
    }
    const auto also = [&](BlockBuffer buffer) {
      made.passing.push_back(emit_.allocate(buffer));
      operands.push_back(made.passing.back());
    };
    also(content_of(id, BufferContent::travelling));
    if (!f_.gathers_keys()) {
      also({op.outputs.front()});
      for (std::size_t i = 0; i < f_.sides(id).size(); ++i) also(side_of(id, i));
    }
    emit_.kernel(id, KernelRole::ring_forward, operands);
  }

  /// Sides: queries, keys and values with all tokens; of fused attention its output with all tokens; what the kernel
  /// makes alongside.
  void attention_by_heads(OpId id, const Op& op, Made& made) {
    make_sides(id, made);
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      scatter_heads(emit_, id, op.inputs[i], value(op.inputs[i]), made.sides[i]);
    std::vector<std::int32_t>& operands = operands_;
    operands.assign(made.sides.begin(), made.sides.end());
    const TensorId output = op.outputs.front();
    const auto place = static_cast<std::ptrdiff_t>(op.inputs.size());
    std::int32_t passing = no_buffer;
    if (!f_.keeps_output_of_heads()) {
      passing = emit_.allocate({output});
      operands.insert(operands.begin() + place, passing);
    }
    emit_.kernel(id, KernelRole::forward, operands);
    const std::int32_t of_heads = operands[op.inputs.size()];
    make_outputs(op, made);
    if (made.outputs.front() != no_buffer) gather_heads(emit_, id, output, of_heads, made.outputs.front());
    emit_.release(passing);
  }

  /// What each tensor-parallel rank made a part of.
  void sum_over_ranks(OpId id, const Op& op, const Made& made) {
    std::vector<std::int32_t> sums;
    for (std::size_t i = 0; i < made.outputs.size(); ++i) {
      sums.push_back(made.slices[i] != no_buffer ? made.slices[i] : made.outputs[i]);
      if (made.outputs[i] == no_buffer) continue;
      if (made.slices[i] == no_buffer)
        emit_.collective(id, Collective::all_reduce, Axis::tensor, {made.outputs[i]});
      else
        emit_.collective(id, Collective::reduce_scatter, Axis::tensor, {made.outputs[i], made.slices[i]});
    }
    // The bias of a row-parallel linear counts once.
    if (op.kind == OpKind::linear && op.parameters.size() > op.outputs.size())
      emit_.kernel(id, KernelRole::add_bias, sums);
  }

  /// Rows leave in one buffer and arrive in another; the first is gone before the output is made.
  void dispatch(OpId id, const Op& op, Made& made) {
    const TensorId y = op.outputs.front();
    const std::int32_t x = value(op.inputs[0]);
    make_sides(id, made);
    emit_.kernel(id, KernelRole::route, {value(op.inputs[1])});
    if (!f_.exchanges(op)) {
      make_outputs(op, made);
      return emit_.kernel(id, KernelRole::permute, {x, made.outputs.front()});
    }
    std::int32_t leaving = emit_.allocate({y, BufferRows::chosen});
    emit_.kernel(id, KernelRole::permute, {x, leaving});
    const std::int32_t arriving = emit_.allocate({y});
    exchange_to_experts(f_, emit_, id, leaving, arriving);
    emit_.release(leaving);
    make_outputs(op, made);
    emit_.kernel(id, KernelRole::sort_arrivals, {arriving, made.outputs.front()});
    made.passing.push_back(arriving);
  }

  void combine(OpId id, const Op& op, Made& made) {
    const TensorId x = op.inputs.front();
    make_sides(id, made);
    std::int32_t returned = value(x);
    if (f_.exchanges(op)) {
      std::int32_t leaving = emit_.allocate({x});
      // Where nothing is kept of what returns, it is summed as it arrives.
      returned = made.sides.empty() ? no_buffer : made.sides.front();
      emit_.kernel(id, KernelRole::unsort_arrivals, {value(x), leaving});
      exchange_to_tokens(f_, emit_, id, leaving, returned);
      emit_.release(leaving);
    }
    make_outputs(op, made);
    emit_.kernel(id, KernelRole::weigh, {returned, made.outputs.front()});
  }

  /// Maxima, then sums and the targets' logits, over all ranks that hold a part of the vocabulary.
  void loss(OpId id, const Op& op, Made& made) {
    const TensorId x = op.inputs.front();
    const bool is_divided = f_.is_divided() && f_.block.tensor(x).partition == Partition::tensor;
    const auto side = [&](BufferContent content) {
      return emit_.allocate(content_of(id, content), MemoryClass::logits_and_loss);
    };
    const std::int32_t maxima = side(BufferContent::maxima);
    const std::int32_t sums = side(BufferContent::sums);
    made.sides = {maxima, sums};
    emit_.kernel(id, KernelRole::loss_maximum, {value(x), maxima, sums});
    if (is_divided) emit_.maximum_over_ranks(id, maxima);
    emit_.kernel(id, KernelRole::loss_sum, {value(x), maxima, sums});
    if (is_divided) emit_.collective(id, Collective::all_reduce, Axis::tensor, {sums});
    emit_.kernel(id, KernelRole::loss_gradient, {value(x), maxima, sums});
  }

  /// What was made again although it is still there serves nobody.
  void store(OpId id, const Op& op, Made& made) {
    if (op.kind != OpKind::cross_entropy)
      for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        const std::int32_t fresh = made.slices[i] != no_buffer ? made.slices[i] : made.outputs[i];
        std::int32_t& place = values_.tensors[slot(op.outputs[i])];
        if (place == no_buffer)
          place = fresh;
        else if (fresh != no_buffer)
          made.passing.push_back(fresh);
      }
    const bool is_loss = op.kind == OpKind::cross_entropy;
    const bool stays = is_first_ ? f_.rule.keeps_side[slot(id)] || is_loss : f_.rule.restores_side[slot(id)];
    if (stays)
      values_.sides[slot(id)] = made.sides;
    else
      made.passing.insert(made.passing.end(), made.sides.begin(), made.sides.end());
  }

  /// Values that nobody reads any more, in this pass or in the backward.
  void release_behind(TensorId tensor, OpId id) {
    const auto is_read_later = [&](bool gathered) {
      const auto& readers = f_.block.consumers(tensor);
      return std::any_of(readers.begin(), readers.end(), [&](OpId r) {
        return f_.position(r) > f_.position(id) && runs(r) &&
               (!gathered || BlockFacts::is_column_parallel(f_.block.op(r)));
      });
    };
    if (gathered_.holds(tensor) && !is_read_later(true)) {
      if (leaves_gathered(tensor)) values_.gathered[slot(tensor)] = gathered_.take(tensor);
      gathered_.release(tensor);
    }
    if (value(tensor) == no_buffer) return;
    const auto& outputs = f_.block.outputs();
    const bool hands_on = is_first_ || plumbline::hands_on(f_.rule.place);
    const bool is_output = hands_on && std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
    const bool stays = f_.rule.keeps_tensor[slot(tensor)] || is_output || f_.is_logits(tensor) ||
                       (!is_first_ && f_.rule.restores_tensor[slot(tensor)]);
    if (!stays && !is_read_later(false)) emit_.release(values_.tensors[slot(tensor)]);
  }

  const BlockFacts& f_;
  BlockEmitter& emit_;
  BlockValues& values_;
  BlockPass pass_;
  bool is_first_;
  GatheredRows gathered_;
  Made made_;
  std::vector<std::int32_t> operands_;  ///< of the kernel at hand
};

}  // namespace

void lower_forward(const BlockFacts& facts, BlockEmitter& emit, BlockValues& values, BlockPass pass) {
  ForwardLowering(facts, emit, values, pass).run();
}

}  // namespace plumbline
