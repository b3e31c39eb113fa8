#include <algorithm>
#include <utility>

#include "core/cost/working_set_walks.h"

namespace plumbline {
namespace {

using Sizes = WorkingSetSizes;
using Ledger = WorkingLedger;

/// Gradients of one backward.
class BackwardSet {
 public:
  BackwardSet(const Sizes& sizes, Ledger& ledger, GradientPart part)
      : s_(sizes),
        ledger_(ledger),
        part_(part),
        gradients_(sizes.block.tensors().size(), Ledger::none),
        partial_(gradients_),
        entered_(gradients_) {}

  /// Before the replay, if there is one.
  void take_output_gradients() {
    if (s_.block.kind() == BlockKind::output) return;
    for (const TensorId id : s_.block.outputs())
      if (s_.carries(id)) gradients_[Sizes::slot(id)] = ledger_.bind(s_.bytes(id));
  }
  void run() {
    const std::vector<OpId>& order = s_.block.execution_order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) run_op(*id);
  }
  [[nodiscard]] const std::vector<OpId>& deferred() const { return deferred_; }

 private:
  void run_op(OpId id) {
    const Op& op = s_.block.op(id);
    const bool any_input = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId t) { return s_.carries(t); });
    if (!any_input && !s_.trains(op)) return;
    switch (op.kind) {
      case OpKind::cross_entropy:
        gradients_[Sizes::slot(op.inputs[0])] = ledger_.bind(Bytes(0), Ledger::Kind::elsewhere);
        return;
      case OpKind::embedding: defer_or_drop(id, whole_gradient(op.outputs[0])); break;
      case OpKind::position_embedding:
        if (s_.trains(op) && part_ == GradientPart::inputs) defer_or_drop(id, ledger_.share(gradient(op.outputs[0])));
        if (s_.carries(op.inputs[0])) contribute(op.inputs[0], ledger_.share(gradient(op.outputs[0])));
        break;
      case OpKind::linear:
      case OpKind::grouped_linear: linear(id, op); break;
      case OpKind::router: router(id, op); break;
      case OpKind::dispatch: dispatch(op); break;
      case OpKind::combine: combine(op); break;
      case OpKind::layer_norm:
      case OpKind::rms_norm: norm(id, op); break;
      case OpKind::add:
        for (const TensorId input : op.inputs)
          if (s_.carries(input)) contribute(input, ledger_.share(gradient(op.outputs[0])));
        break;
      default: make_all(op); break;
    }
    for (const TensorId output : op.outputs) ledger_.release(gradient(output));
  }

  /// A gradient of each input, made at once.
  void make_all(const Op& op) {
    std::vector<std::int32_t> made;
    for (const TensorId input : op.inputs)
      if (s_.carries(input)) made.push_back(ledger_.bind(s_.bytes(input)));
    if (op.kind == OpKind::attention && s_.shard.context_parallel > 1) {
      std::int32_t travelling = ledger_.bind(s_.travelling(op));
      std::int32_t gradients = ledger_.bind(s_.travelling(op));
      ledger_.release(travelling);
      ledger_.release(gradients);
    }
    std::size_t next = 0;
    for (const TensorId input : op.inputs)
      if (s_.carries(input)) contribute(input, made[next++]);
  }

  void router(OpId id, const Op& op) {
    std::int32_t of_logits = ledger_.bind(s_.bytes(op.outputs[0]));
    ledger_.release(gradient(op.outputs[0]));
    if (s_.carries(op.inputs[0])) contribute(op.inputs[0], ledger_.bind(s_.bytes(op.inputs[0])));
    if (s_.trains(op)) return defer_or_drop(id, of_logits);
    ledger_.release(of_logits);
  }

  /// The choice itself has no gradient.
  void dispatch(const Op& op) {
    if (!s_.carries(op.inputs[0])) return;
    std::int32_t arriving = Ledger::none;
    if (s_.exchanges(op)) {
      std::int32_t leaving = ledger_.bind(s_.bytes(op.outputs[0]));
      ledger_.release(gradient(op.outputs[0]));
      arriving = ledger_.bind(s_.chosen(op.outputs[0]));
      ledger_.release(leaving);
    }
    const std::int32_t made = ledger_.bind(s_.bytes(op.inputs[0]));
    ledger_.release(arriving);
    contribute(op.inputs[0], made);
  }

  void combine(const Op& op) {
    const std::int32_t of_weights = ledger_.bind(s_.bytes(op.inputs[1]));
    std::int32_t arriving = Ledger::none;
    if (s_.exchanges(op)) {
      std::int32_t leaving = ledger_.bind(s_.chosen(op.inputs[0]));
      arriving = ledger_.bind(s_.bytes(op.inputs[0]));
      ledger_.release(leaving);
    }
    const std::int32_t of_rows = ledger_.bind(s_.bytes(op.inputs[0]));
    ledger_.release(arriving);
    contribute(op.inputs[0], of_rows);
    contribute(op.inputs[1], of_weights);
  }

  void norm(OpId id, const Op& op) {
    std::int32_t made = Ledger::none;
    if (s_.carries(op.inputs[0])) made = ledger_.bind(s_.bytes(op.inputs[0]));
    if (s_.trains(op) && part_ == GradientPart::inputs) {
      std::int64_t elements = 0;
      for (const TensorId p : op.parameters) elements += local_elements(s_.block.tensor(p), s_.shard);
      ledger_.bind(storage(elements, s_.shard.formats.gradient), Ledger::Kind::deferred);
      deferred_.push_back(id);
    }
    if (made != Ledger::none) contribute(op.inputs[0], made);
  }

  void linear(OpId id, const Op& op) {
    std::vector<std::int32_t> made;
    for (const TensorId output : op.outputs)
      made.push_back(s_.leaves(op) ? whole_gradient(output) : std::exchange(gradient(output), Ledger::none));
    const TensorId x = op.inputs[0];
    if (s_.carries(x)) linear_input(id, op);
    if (s_.trains(op)) {
      if (part_ == GradientPart::inputs) {
        for (const std::int32_t handle : made) ledger_.defer(handle);
        deferred_.push_back(id);
        made.clear();  // held
      } else {
        enter(op);
      }
      if (!s_.is_entered_before(x, id)) ledger_.release(entered_[Sizes::slot(x)]);
    }
    for (std::int32_t& handle : made) ledger_.release(handle);
  }

  void linear_input(OpId id, const Op& op) {
    const TensorId x = op.inputs[0];
    if (!Sizes::enters(op) || s_.shard.tensor_parallel == 1) return contribute(x, ledger_.bind(s_.bytes(x)));
    std::int32_t& partial = partial_[Sizes::slot(x)];
    if (partial == Ledger::none) partial = ledger_.bind(s_.whole(x));
    if (s_.is_entered_before(x, id)) return;
    std::int32_t sum = std::exchange(partial, Ledger::none);
    if (!s_.is_sliced(x)) return contribute(x, sum);
    const std::int32_t slice = ledger_.bind(s_.bytes(x));
    ledger_.release(sum);
    contribute(x, slice);
  }

  void enter(const Op& op) {
    std::int32_t& entered = entered_[Sizes::slot(op.inputs[0])];
    if (Sizes::enters(op) && s_.is_sliced(op.inputs[0]) && entered == Ledger::none)
      entered = ledger_.bind(s_.whole(op.inputs[0]));
  }

  std::int32_t whole_gradient(TensorId output) {
    std::int32_t slice = std::exchange(gradient(output), Ledger::none);
    if (!s_.is_sliced(output)) return slice;
    const std::int32_t whole = ledger_.bind(s_.whole(output));
    ledger_.release(slice);
    return whole;
  }

  void defer_or_drop(OpId id, std::int32_t handle) {
    if (part_ == GradientPart::all) return ledger_.release(handle);
    ledger_.defer(handle);
    deferred_.push_back(id);
  }

  void contribute(TensorId tensor, std::int32_t fresh) {
    std::int32_t& sum = gradient(tensor);
    if (sum == Ledger::none) {
      sum = fresh;
      return;
    }
    if (ledger_.is_unique(fresh)) {
      ledger_.release(sum);
      sum = fresh;
      return;
    }
    if (!ledger_.is_unique(sum)) {
      const std::int32_t own = ledger_.bind(ledger_.bytes(sum));
      ledger_.release(sum);
      sum = own;
    }
    ledger_.release(fresh);
  }

  std::int32_t& gradient(TensorId id) { return gradients_[Sizes::slot(id)]; }

  const Sizes& s_;
  Ledger& ledger_;
  GradientPart part_;
  std::vector<std::int32_t> gradients_;
  std::vector<std::int32_t> partial_;
  std::vector<std::int32_t> entered_;
  std::vector<OpId> deferred_;
};

}  // namespace

std::vector<OpId> walk_backward(const WorkingSetSizes& sizes, WorkingLedger& ledger, GradientPart part) {
  BackwardSet backward(sizes, ledger, part);
  backward.take_output_gradients();
  if (sizes.rule.replays_anything()) walk_forward(sizes, ledger, Round::again);
  backward.run();
  return backward.deferred();
}

}  // namespace plumbline
