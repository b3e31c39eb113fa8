#include "core/cost/working_set.h"

#include <algorithm>
#include <utility>

#include "core/cost/side_tensors.h"
#include "core/cost/working_ledger.h"
#include "core/cost/working_set_sizes.h"

namespace plumbline {
namespace {

std::size_t slot(TensorId id) { return static_cast<std::size_t>(id.index()); }
std::size_t slot(OpId id) { return static_cast<std::size_t>(id.index()); }

using Sizes = WorkingSetSizes;
using Ledger = WorkingLedger;

enum class Round : std::uint8_t { first, again };

/// Values of one forward or replay.
class ForwardSet {
 public:
  ForwardSet(const Sizes& sizes, Ledger& ledger, Round round)
      : s_(sizes),
        ledger_(ledger),
        round_(round),
        values_(sizes.block.tensors().size(), Ledger::none),
        entered_(values_) {}

  void run() {
    if (round_ == Round::first)
      for (const TensorId id : s_.block.inputs())
        if (!s_.rule.keeps_tensor[slot(id)]) values_[slot(id)] = ledger_.bind(s_.bytes(id));
    for (const OpId id : s_.block.execution_order())
      if (runs(id)) run_op(id);
  }

 private:
  [[nodiscard]] bool runs(OpId id) const { return round_ == Round::first || s_.rule.replays[slot(id)]; }

  void run_op(OpId id) {
    const Op& op = s_.block.op(id);
    std::vector<std::int32_t> passing;
    if (s_.exchanges(op)) {
      exchange(id, op, passing);
    } else {
      for (const TensorId output : op.outputs)
        if (op.kind != OpKind::cross_entropy && !s_.is_logits(output)) make(op, output, passing);
      if (op.kind != OpKind::cross_entropy) make_sides(id, passing);
    }
    if (Sizes::enters(op) && s_.is_sliced(op.inputs.front()) && entered_[slot(op.inputs.front())] == Ledger::none)
      entered_[slot(op.inputs.front())] = ledger_.bind(s_.whole(op.inputs.front()));
    if (op.kind == OpKind::attention && s_.shard.context_parallel > 1) {
      passing.push_back(ledger_.bind(s_.travelling(op)));
      passing.push_back(ledger_.bind(s_.bytes(op.outputs.front())));
      s_.for_sides(id, [&](Bytes bytes) { passing.push_back(ledger_.bind(bytes)); });
    }
    for (std::int32_t& handle : passing) ledger_.release(handle);
    for (const TensorId tensor : op.inputs) release(tensor, id);
    for (const TensorId tensor : op.outputs) release(tensor, id);
  }

  /// Rows leave in one buffer and arrive in another, which a combine keeps; the first is gone before the output is
  /// made.
  void exchange(OpId id, const Op& op, std::vector<std::int32_t>& passing) {
    const bool dispatches = op.kind == OpKind::dispatch;
    make_sides(id, passing);
    std::int32_t leaving = ledger_.bind(dispatches ? s_.chosen(op.outputs[0]) : s_.bytes(op.inputs[0]));
    std::int32_t arriving = dispatches ? ledger_.bind(s_.bytes(op.outputs[0])) : Ledger::none;
    ledger_.release(leaving);
    make(op, op.outputs[0], passing);
    ledger_.release(arriving);
  }

  void make(const Op& op, TensorId output, std::vector<std::int32_t>& passing) {
    if (s_.leaves(op) && s_.is_sliced(output)) passing.push_back(ledger_.bind(s_.whole(output)));
    const bool keeps = s_.rule.keeps_tensor[slot(output)];
    if (keeps && round_ == Round::first) return;
    const std::int32_t made = ledger_.bind(s_.bytes(output));
    if (keeps)
      passing.push_back(made);  // it is there already
    else
      values_[slot(output)] = made;
  }
  void make_sides(OpId id, std::vector<std::int32_t>& passing) {
    if (round_ == Round::first && s_.rule.keeps_side[slot(id)]) return;
    s_.for_sides(id, [&](Bytes bytes) {
      const std::int32_t made = ledger_.bind(bytes);
      if (round_ == Round::first || !s_.rule.restores_side[slot(id)]) passing.push_back(made);
    });
  }

  void release(TensorId tensor, OpId after) {
    const auto reads = [&](bool entering) {
      const auto& readers = s_.block.consumers(tensor);
      return std::any_of(readers.begin(), readers.end(), [&](OpId r) {
        return s_.position(r) > s_.position(after) && runs(r) && (!entering || Sizes::enters(s_.block.op(r)));
      });
    };
    if (!reads(true)) ledger_.release(entered_[slot(tensor)]);
    const auto& outputs = s_.block.outputs();
    const bool is_output = round_ == Round::first && std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
    const bool restores = round_ == Round::again && s_.rule.restores_tensor[slot(tensor)];
    if (!is_output && !restores && !reads(false)) ledger_.release(values_[slot(tensor)]);
  }

  const Sizes& s_;
  Ledger& ledger_;
  Round round_;
  std::vector<std::int32_t> values_;
  std::vector<std::int32_t> entered_;
};

enum class Part : std::uint8_t { all, inputs };

/// Gradients of one backward.
class BackwardSet {
 public:
  BackwardSet(const Sizes& sizes, Ledger& ledger, Part part)
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
      if (s_.carries(id)) gradients_[slot(id)] = ledger_.bind(s_.bytes(id));
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
        gradients_[slot(op.inputs[0])] = ledger_.bind(Bytes(0), Ledger::Kind::elsewhere);
        return;
      case OpKind::embedding: defer_or_drop(id, whole_gradient(op.outputs[0])); break;
      case OpKind::position_embedding:
        if (s_.trains(op) && part_ == Part::inputs) defer_or_drop(id, ledger_.share(gradient(op.outputs[0])));
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
    if (s_.trains(op) && part_ == Part::inputs) {
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
      if (part_ == Part::inputs) {
        for (const std::int32_t handle : made) ledger_.defer(handle);
        deferred_.push_back(id);
        made.clear();  // held
      } else {
        enter(op);
      }
      if (!s_.is_entered_before(x, id)) ledger_.release(entered_[slot(x)]);
    }
    for (std::int32_t& handle : made) ledger_.release(handle);
  }

  void linear_input(OpId id, const Op& op) {
    const TensorId x = op.inputs[0];
    if (!Sizes::enters(op) || s_.shard.tensor_parallel == 1) return contribute(x, ledger_.bind(s_.bytes(x)));
    std::int32_t& partial = partial_[slot(x)];
    if (partial == Ledger::none) partial = ledger_.bind(s_.whole(x));
    if (s_.is_entered_before(x, id)) return;
    std::int32_t sum = std::exchange(partial, Ledger::none);
    if (!s_.is_sliced(x)) return contribute(x, sum);
    const std::int32_t slice = ledger_.bind(s_.bytes(x));
    ledger_.release(sum);
    contribute(x, slice);
  }

  void enter(const Op& op) {
    std::int32_t& entered = entered_[slot(op.inputs[0])];
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
    if (part_ == Part::all) return ledger_.release(handle);
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

  std::int32_t& gradient(TensorId id) { return gradients_[slot(id)]; }

  const Sizes& s_;
  Ledger& ledger_;
  Part part_;
  std::vector<std::int32_t> gradients_;
  std::vector<std::int32_t> partial_;
  std::vector<std::int32_t> entered_;
  std::vector<OpId> deferred_;
};

Bytes forward_bytes(const Sizes& sizes) {
  Ledger ledger;
  ForwardSet(sizes, ledger, Round::first).run();
  return ledger.most();
}

/// Rows that weight gradients gather again; in order of the deferred operators.
Bytes weight_bytes(const Sizes& sizes, const std::vector<OpId>& deferred) {
  Bytes live(0);
  Bytes most(0);
  std::vector<TensorId> entered;
  for (const OpId id : deferred) {
    const Op& op = sizes.block.op(id);
    if (!Sizes::enters(op) || !sizes.is_sliced(op.inputs[0])) continue;
    const TensorId x = op.inputs[0];
    if (std::find(entered.begin(), entered.end(), x) == entered.end()) {
      entered.push_back(x);
      live += sizes.whole(x);
    }
    most = std::max(most, live);
    if (!sizes.is_entered_before(x, id)) live -= sizes.whole(x);
  }
  return most;
}

bool is_product(const Op& op) {
  return op.kind == OpKind::linear || op.kind == OpKind::grouped_linear || op.kind == OpKind::router;
}

/// Inputs that deferred products read.
void hold_inputs(const Sizes& sizes, const std::vector<OpId>& deferred, WorkingSets& sets) {
  std::vector<bool> counted(sizes.block.tensors().size(), false);
  for (const OpId id : deferred) {
    const Op& op = sizes.block.op(id);
    if (!is_product(op)) continue;
    if (sizes.is_logits(op.outputs.front())) sets.needs_logits = true;
    const TensorId x = op.inputs.front();
    if (counted[slot(x)]) continue;
    counted[slot(x)] = true;
    (sizes.rule.keeps_tensor[slot(x)] ? sets.saved_for_weight : sets.deferred) += sizes.bytes(x);
  }
}

}  // namespace

WorkingSetModel::WorkingSetModel(const Block& block, const Shard& shard)
    : block_(block),
      shard_(shard),
      saved_(saved_tensors(block, shard)),
      sides_(block.ops().size()),
      position_(block.ops().size()) {
  for (std::size_t t = 0; t < block.tensors().size(); ++t) {
    const TensorId id(static_cast<std::int32_t>(t));
    const Tensor& tensor = block.tensors()[t];
    const auto& readers = block.consumers(id);
    const bool is_logits =
        std::any_of(readers.begin(), readers.end(), [&](OpId r) { return block.op(r).kind == OpKind::cross_entropy; });
    tensors_.push_back({tensor.role == TensorRole::parameter ? Bytes(0) : local_bytes(tensor, shard),
                        shard.sequence_ranks() > 1 && tensor.partition == Partition::sequence, is_logits});
  }
  for (const SavedTensor& side : side_tensors(block, shard)) sides_[slot(side.op)].push_back(side.bytes);
  for (std::size_t i = 0; i < block.ops().size(); ++i)
    position_[slot(block.execution_order()[i])] = static_cast<std::int32_t>(i);
}

WorkingSets WorkingSetModel::of(const Replay& replay, BackwardForm form) const {
  const KeepRule rule = keep_rule(block_, saved_, replay);
  const Sizes sizes(*this, rule);
  const auto run = [&](Part part, Ledger& ledger) {
    BackwardSet backward(sizes, ledger, part);
    backward.take_output_gradients();
    if (rule.replays_anything()) ForwardSet(sizes, ledger, Round::again).run();
    backward.run();
    return backward.deferred();
  };
  WorkingSets sets;
  sets.forward = forward_bytes(sizes);
  Ledger whole;
  (void)run(Part::all, whole);
  sets.backward = whole.most();
  if (form == BackwardForm::whole) return sets;
  Ledger inputs;
  const std::vector<OpId> deferred = run(Part::inputs, inputs);
  sets.backward_input = inputs.most();
  sets.deferred = inputs.deferred();
  hold_inputs(sizes, deferred, sets);
  sets.weight = weight_bytes(sizes, deferred);
  return sets;
}

}  // namespace plumbline
