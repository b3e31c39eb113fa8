#include <algorithm>
#include <utility>

#include "core/program/block_passes.h"
#include "core/program/gathered_rows.h"
#include "core/program/head_exchange.h"
#include "core/program/row_exchange.h"

namespace plumbline {
namespace {

class BackwardLowering {
 public:
  BackwardLowering(const BlockFacts& facts, BlockEmitter& emit, const BlockValues& values, BlockPass pass)
      : f_(facts),
        emit_(emit),
        values_(values),
        pass_(pass),
        gradients_(facts.block.tensors().size(), no_buffer),
        partial_(gradients_),
        gathered_(facts, emit, values.gathered) {}

  BackwardResult run(const std::vector<std::int32_t>& output_gradients) {
    emit_.begin(pass_);
    for (std::size_t i = 0; i < output_gradients.size(); ++i) gradient(f_.block.outputs()[i]) = output_gradients[i];
    const std::vector<OpId>& order = f_.block.execution_order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) lower(*id, f_.block.op(*id));
    for (const TensorId input : f_.block.inputs()) result_.input_gradients.push_back(gradient(input));
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool defers() const { return pass_ == BlockPass::backward_input; }
  [[nodiscard]] std::int32_t value(TensorId id) const { return values_.tensors[slot(id)]; }
  std::int32_t& gradient(TensorId id) { return gradients_[slot(id)]; }
  std::int32_t like(TensorId tensor) { return emit_.allocate({tensor}); }

  void lower(OpId id, const Op& op) {
    const bool any_input = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId t) { return f_.carries(t); });
    if (!any_input && !f_.trains(op)) return;
    switch (op.kind) {
      case OpKind::cross_entropy:  // the loss left it where the logits were
        gradient(op.inputs.front()) = emit_.share(value(op.inputs.front()));
        return;
      case OpKind::embedding: embedding(id, op); break;
      case OpKind::position_embedding: position_embedding(id, op); break;
      case OpKind::router: router(id, op); break;
      case OpKind::dispatch: dispatch(id, op); break;
      case OpKind::combine: combine(id, op); break;
      case OpKind::add:
        for (const TensorId input : op.inputs)
          if (f_.carries(input)) contribute(id, input, emit_.share(gradient(op.outputs.front())));
        break;
      default:
        if (is_linear(op.kind))
          linear(id, op);
        else if (is_token_norm(op.kind))
          norm(id, op);
        else if (f_.exchanges_heads(op))
          attention_by_heads(id, op);
        else
          make_all(id, op);
        break;
    }
    for (const TensorId output : op.outputs) emit_.release(gradient(output));
  }

  /// A gradient of each input, made at once.
  void make_all(OpId id, const Op& op) {
    std::vector<std::int32_t> made;
    for (const TensorId input : op.inputs) made.push_back(f_.carries(input) ? like(input) : no_buffer);
    std::vector<std::int32_t>& operands = read_by_backward(id, op);
    operands.insert(operands.end(), made.begin(), made.end());
    if (f_.runs_ring(op)) {
      std::int32_t travelling = emit_.allocate(content_of(id, BufferContent::travelling));
      std::int32_t of_travelling = emit_.allocate(content_of(id, BufferContent::travelling));
      operands.push_back(travelling);
      operands.push_back(of_travelling);
      emit_.kernel(id, KernelRole::ring_backward, operands);
      emit_.release(travelling);
      emit_.release(of_travelling);
    } else {
      emit_.kernel(id, KernelRole::backward, operands);
    }
    for (std::size_t i = 0; i < made.size(); ++i)
      if (made[i] != no_buffer) contribute(id, op.inputs[i], made[i]);
  }
  /// The mirror of the forward's exchanges: of the output's gradient, then of those of queries, keys and values.
  void attention_by_heads(OpId id, const Op& op) {
    const TensorId output = op.outputs.front();
    std::int32_t of_output = like(output);
    scatter_heads(emit_, id, output, gradient(output), of_output);
    emit_.release(gradient(output));
    const auto& sides = values_.sides[slot(id)];
    std::vector<std::int32_t>& operands = operands_;
    operands.assign(1, of_output);
    operands.insert(operands.end(), sides.begin(), sides.end());
    if (!f_.keeps_output_of_heads())
      operands.insert(operands.begin() + 1 + static_cast<std::ptrdiff_t>(op.inputs.size()), no_buffer);
    std::vector<std::int32_t> made;
    for (const TensorId input : op.inputs) made.push_back(f_.carries(input) ? like(input) : no_buffer);
    operands.insert(operands.end(), made.begin(), made.end());
    emit_.kernel(id, KernelRole::backward, operands);
    emit_.release(of_output);
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (made[i] == no_buffer) continue;
      const std::int32_t of_tokens = like(op.inputs[i]);
      gather_heads(emit_, id, op.inputs[i], made[i], of_tokens);
      emit_.release(made[i]);
      contribute(id, op.inputs[i], of_tokens);
    }
  }
  /// Gradients of outputs, inputs, outputs, what was made alongside them.
  [[nodiscard]] std::vector<std::int32_t>& read_by_backward(OpId id, const Op& op) {
    std::vector<std::int32_t>& operands = operands_;
    operands.clear();
    for (const TensorId output : op.outputs) operands.push_back(gradient(output));
    for (const TensorId input : op.inputs) operands.push_back(value(input));
    for (const TensorId output : op.outputs) operands.push_back(value(output));
    const auto& sides = values_.sides[slot(id)];
    operands.insert(operands.end(), sides.begin(), sides.end());
    return operands;
  }

  void embedding(OpId id, const Op& op) {
    std::int32_t whole = whole_gradient(id, op.outputs.front());
    if (defers()) return defer(id, {whole});
    emit_.kernel(id, KernelRole::weight_gradient, {no_buffer, whole});
    emit_.release(whole);
  }
  void position_embedding(OpId id, const Op& op) {
    const std::int32_t of_output = gradient(op.outputs.front());
    if (f_.trains(op)) {
      if (defers())
        defer(id, {emit_.share(of_output)});
      else
        emit_.kernel(id, KernelRole::weight_gradient, {no_buffer, of_output});
    }
    if (f_.carries(op.inputs.front())) contribute(id, op.inputs.front(), emit_.share(of_output));
  }

  void router(OpId id, const Op& op) {
    const TensorId x = op.inputs.front();
    const TensorId y = op.outputs.front();
    std::int32_t of_logits = like(y);
    emit_.kernel(id, KernelRole::backward, {gradient(y), value(y), of_logits});
    emit_.release(gradient(y));
    if (f_.carries(x)) {
      const std::int32_t made = like(x);
      emit_.kernel(id, KernelRole::input_gradient, {of_logits, made});
      contribute(id, x, made);
    }
    if (f_.trains(op) && defers()) return defer(id, {of_logits});
    if (f_.trains(op)) emit_.kernel(id, KernelRole::weight_gradient, {value(x), of_logits});
    emit_.release(of_logits);
  }

  /// The choice itself has no gradient.
  void dispatch(OpId id, const Op& op) {
    const TensorId x = op.inputs.front();
    const TensorId y = op.outputs.front();
    if (!f_.carries(x)) return;
    std::int32_t rows = no_buffer;
    if (f_.exchanges(op)) {
      std::int32_t leaving = like(y);
      emit_.kernel(id, KernelRole::unsort_arrivals, {gradient(y), leaving});
      emit_.release(gradient(y));
      rows = emit_.allocate({y, BufferRows::chosen});
      exchange_to_tokens(f_, emit_, id, leaving, rows);
      emit_.release(leaving);
    }
    const std::int32_t made = like(x);
    emit_.kernel(id, KernelRole::unpermute, {rows == no_buffer ? gradient(y) : rows, made});
    emit_.release(rows);
    contribute(id, x, made);
  }

  void combine(OpId id, const Op& op) {
    const TensorId x = op.inputs[0];
    const TensorId probabilities = op.inputs[1];
    const std::int32_t of_weights = like(probabilities);
    const bool exchanges = f_.exchanges(op);
    const auto& sides = values_.sides[slot(id)];
    const std::int32_t returned = !exchanges ? value(x) : sides.empty() ? no_buffer : sides.front();
    std::int32_t of_rows = emit_.allocate({x, exchanges ? BufferRows::chosen : BufferRows::local});
    emit_.kernel(id, KernelRole::weigh_gradient, {gradient(op.outputs.front()), returned, of_rows, of_weights});
    if (exchanges) {
      std::int32_t arriving = like(x);
      exchange_to_experts(f_, emit_, id, of_rows, arriving);
      emit_.release(of_rows);
      of_rows = like(x);
      emit_.kernel(id, KernelRole::sort_arrivals, {arriving, of_rows});
      emit_.release(arriving);
    }
    contribute(id, x, of_rows);
    contribute(id, probabilities, of_weights);
  }

  void norm(OpId id, const Op& op) {
    const TensorId x = op.inputs.front();
    const std::int32_t made = f_.carries(x) ? like(x) : no_buffer;
    const bool puts_off = f_.trains(op) && defers();
    std::vector<std::int32_t>& operands = read_by_backward(id, op);
    operands.push_back(made);
    if (puts_off) {
      operands.push_back(emit_.allocate(content_of(id, BufferContent::parameter_gradients), MemoryClass::activations));
    }
    emit_.kernel(id, puts_off ? KernelRole::deferred_backward : KernelRole::backward, operands);
    if (puts_off) result_.deferred.push_back({id, {operands.back()}});
    if (made != no_buffer) contribute(id, x, made);
  }

  void linear(OpId id, const Op& op) {
    const TensorId x = op.inputs.front();
    std::vector<std::int32_t> of_outputs;
    for (const TensorId output : op.outputs)
      of_outputs.push_back(f_.is_summed_over_ranks(op) ? whole_gradient(id, output)
                                                       : std::exchange(gradient(output), no_buffer));
    if (f_.carries(x)) linear_input(id, op, of_outputs);
    if (f_.trains(op)) {
      if (defers()) {
        defer(id, std::move(of_outputs));
        of_outputs.clear();
      } else {
        std::vector<std::int32_t>& operands = operands_;
        operands.assign(1, gather(id, op));
        operands.insert(operands.end(), of_outputs.begin(), of_outputs.end());
        emit_.kernel(id, KernelRole::weight_gradient, operands);
      }
      if (!f_.is_gathered_before(x, id)) gathered_.release(x);
    }
    for (std::int32_t& buffer : of_outputs) emit_.release(buffer);
  }

  /// Operators that read one gathered tensor add to one gradient of it, which is summed over ranks once.
  void linear_input(OpId id, const Op& op, const std::vector<std::int32_t>& of_outputs) {
    const TensorId x = op.inputs.front();
    const auto multiply = [&](std::int32_t into, bool accumulates) {
      operands_.assign(of_outputs.begin(), of_outputs.end());
      operands_.push_back(into);
      emit_.kernel(id, KernelRole::input_gradient, operands_, accumulates);
    };
    if (!BlockFacts::is_column_parallel(op) || !f_.is_divided()) {
      const std::int32_t made = like(x);
      multiply(made, false);
      return contribute(id, x, made);
    }
    std::int32_t& partial = partial_[slot(x)];
    const bool is_begun = partial != no_buffer;
    if (!is_begun) partial = emit_.allocate({x, f_.is_sliced(x) ? BufferRows::whole : BufferRows::local});
    multiply(partial, is_begun);
    if (f_.is_gathered_before(x, id)) return;
    std::int32_t sum = std::exchange(partial, no_buffer);
    if (!f_.is_sliced(x)) {
      emit_.collective(id, Collective::all_reduce, Axis::tensor, {sum});
      return contribute(id, x, sum);
    }
    const std::int32_t slice = like(x);
    emit_.collective(id, Collective::reduce_scatter, Axis::tensor, {sum, slice});
    emit_.release(sum);
    contribute(id, x, slice);
  }

  std::int32_t gather(OpId id, const Op& op) {
    const TensorId x = op.inputs.front();
    const std::int32_t kept = product_input(values_, op, id);
    if (!BlockFacts::is_column_parallel(op)) return kept;
    return gathered_.rows(id, x, kept);
  }

  /// The gradient of what was summed over ranks, with all rows.
  std::int32_t whole_gradient(OpId id, TensorId output) {
    std::int32_t slice = std::exchange(gradient(output), no_buffer);
    if (!f_.is_sliced(output)) return slice;
    const std::int32_t whole = emit_.allocate({output, BufferRows::whole});
    emit_.collective(id, Collective::all_gather, Axis::tensor, {slice, whole});
    emit_.release(slice);
    return whole;
  }

  /// What waits for the weight pass counts as an activation; logits stay what they are.
  void defer(OpId id, std::vector<std::int32_t> buffers) {
    const auto& outputs = f_.block.op(id).outputs;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (!f_.is_logits(outputs[std::min(i, outputs.size() - 1)]))
        emit_.reclassify(buffers[i], MemoryClass::activations);
    result_.deferred.push_back({id, std::move(buffers)});
  }

  /// Two holders of a buffer may need its old content; then the sum has memory of its own.
  void contribute(OpId id, TensorId tensor, std::int32_t fresh) {
    std::int32_t& sum = gradient(tensor);
    if (sum == no_buffer) {
      sum = fresh;
      return;
    }
    std::int32_t into = fresh;
    if (!emit_.is_unique(fresh))
      into = emit_.is_unique(sum) ? sum : emit_.allocate({.like = tensor, .like_buffer = sum});
    emit_.kernel(id, KernelRole::accumulate, {sum, fresh, into});
    if (into != sum) emit_.release(sum);
    if (into != fresh) emit_.release(fresh);
    sum = into;
  }

  const BlockFacts& f_;
  BlockEmitter& emit_;
  const BlockValues& values_;
  BlockPass pass_;
  std::vector<std::int32_t> gradients_;  ///< by tensor
  std::vector<std::int32_t> partial_;    ///< by tensor: gradients that other ranks hold parts of
  GatheredRows gathered_;
  std::vector<std::int32_t> operands_;  ///< of the kernel at hand
  BackwardResult result_;
};

}  // namespace

BackwardResult lower_backward(const BlockFacts& facts, BlockEmitter& emit, const BlockValues& values,
                              const std::vector<std::int32_t>& output_gradients, BlockPass pass) {
  return BackwardLowering(facts, emit, values, pass).run(output_gradients);
}

}  // namespace plumbline
