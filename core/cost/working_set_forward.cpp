#include <algorithm>

#include "core/cost/working_set_walks.h"

namespace plumbline {
namespace {

using Sizes = WorkingSetSizes;
using Ledger = WorkingLedger;

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
        if (!s_.rule.keeps_tensor[Sizes::slot(id)]) values_[Sizes::slot(id)] = ledger_.bind(s_.bytes(id));
    for (const OpId id : s_.block.execution_order())
      if (runs(id)) run_op(id);
  }

 private:
  [[nodiscard]] bool runs(OpId id) const { return round_ == Round::first || s_.rule.replays[Sizes::slot(id)]; }

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
    if (Sizes::enters(op) && s_.is_sliced(op.inputs.front()) &&
        entered_[Sizes::slot(op.inputs.front())] == Ledger::none)
      entered_[Sizes::slot(op.inputs.front())] = ledger_.bind(s_.whole(op.inputs.front()));
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

  [[nodiscard]] bool skips(TensorId output) const { return round_ == Round::again && s_.rule.skips(output); }

  void make(const Op& op, TensorId output, std::vector<std::int32_t>& passing) {
    if (skips(output)) return;
    if (s_.leaves(op) && s_.is_sliced(output)) passing.push_back(ledger_.bind(s_.whole(output)));
    const bool keeps = s_.rule.keeps_tensor[Sizes::slot(output)];
    if (keeps && round_ == Round::first) return;
    const std::int32_t made = ledger_.bind(s_.bytes(output));
    if (keeps)
      passing.push_back(made);  // it is there already
    else
      values_[Sizes::slot(output)] = made;
  }
  void make_sides(OpId id, std::vector<std::int32_t>& passing) {
    if (round_ == Round::first && s_.rule.keeps_side[Sizes::slot(id)]) return;
    s_.for_sides(id, [&](Bytes bytes) {
      const std::int32_t made = ledger_.bind(bytes);
      if (round_ == Round::first || !s_.rule.restores_side[Sizes::slot(id)]) passing.push_back(made);
    });
  }

  void release(TensorId tensor, OpId after) {
    const auto reads = [&](bool entering) {
      const auto& readers = s_.block.consumers(tensor);
      return std::any_of(readers.begin(), readers.end(), [&](OpId r) {
        return s_.position(r) > s_.position(after) && runs(r) && (!entering || Sizes::enters(s_.block.op(r)));
      });
    };
    if (!reads(true)) ledger_.release(entered_[Sizes::slot(tensor)]);
    const auto& outputs = s_.block.outputs();
    const bool is_output = round_ == Round::first && std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
    const bool restores = round_ == Round::again && s_.rule.restores_tensor[Sizes::slot(tensor)];
    if (!is_output && !restores && !reads(false)) ledger_.release(values_[Sizes::slot(tensor)]);
  }

  const Sizes& s_;
  Ledger& ledger_;
  Round round_;
  std::vector<std::int32_t> values_;
  std::vector<std::int32_t> entered_;
};

}  // namespace

void walk_forward(const WorkingSetSizes& sizes, WorkingLedger& ledger, Round round) {
  ForwardSet(sizes, ledger, round).run();
}

}  // namespace plumbline
