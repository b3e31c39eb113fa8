#include <algorithm>

#include "core/program/action_kinds.h"
#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

/// The transfers around the passes of one rank.
class Transfers {
 public:
  explicit Transfers(const RankContext& context) : context_(context), schedule_(context.input.schedule) {}

  void push_receive(Actions& actions, const Action& at) const {
    const bool forward = at.pass == Pass::forward;
    push(actions, at, forward ? ActionKind::receive_forward : ActionKind::receive_backward, forward ? -1 : 1);
  }
  void push_send(Actions& actions, const Action& at) const {
    const bool forward = at.pass == Pass::forward;
    push(actions, at, forward ? ActionKind::send_forward : ActionKind::send_backward, forward ? 1 : -1);
  }

 private:
  void push(Actions& actions, const Action& at, ActionKind kind, std::int32_t direction) const {
    const std::int32_t stage = schedule_.stage(context_.rank, at.chunk);
    const std::int32_t other = stage + direction;
    if (at.pass == Pass::weight || other < 0 || other >= schedule_.shape.stages()) return;
    if (schedule_.rank_of(other) == context_.rank) return;
    Action action;
    action.kind = kind;
    action.stream = Stream::pipeline;
    action.axis = Axis::pipeline;
    action.pass = at.pass;
    action.chunk = at.chunk;
    action.micro_batch = at.micro_batch;
    action.peer = schedule_.rank_of(other);
    const bool sends = is_send(kind);
    action.handover = handover(sends ? other : stage, at.pass);
    if (sends) action.bytes = boundary(std::max(stage, other));
    actions.push_back(action);
  }
  [[nodiscard]] Handover handover(std::int32_t receiving_stage, Pass pass) const {
    const std::int32_t first = pass == Pass::forward ? 0 : schedule_.shape.virtual_stages - 1;
    return chunk_of(receiving_stage) == first ? Handover::in_transit : Handover::blocking;
  }
  [[nodiscard]] std::int32_t chunk_of(std::int32_t stage) const { return stage / schedule_.shape.pipeline_stages; }
  /// Of the activation between `stage` and the one before; its gradient has the same size.
  [[nodiscard]] Bytes boundary(std::int32_t stage) const {
    const RankSizes& sizes = context_.input.ranks[static_cast<std::size_t>(schedule_.rank_of(stage))];
    return sizes.chunks[static_cast<std::size_t>(chunk_of(stage))].boundary;
  }

  const RankContext& context_;
  const ComputeSchedule& schedule_;
};

}  // namespace

Actions add_transfers(const RankContext& context, const Actions& before) {
  const Transfers transfers(context);
  Actions actions;
  actions.reserve(2 * before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Action& action = before[i];
    if (i == 0 || group_of(before[i - 1]) != group_of(action)) transfers.push_receive(actions, action);
    actions.push_back(action);
    if (i + 1 == before.size() || group_of(before[i + 1]) != group_of(action)) transfers.push_send(actions, action);
  }
  return actions;
}

}  // namespace plumbline::passes
