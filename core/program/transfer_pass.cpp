#include <algorithm>
#include <optional>
#include <variant>

#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

/// The transfers around the passes of one rank.
class Transfers {
 public:
  explicit Transfers(const RankContext& context) : context_(context), schedule_(context.input.schedule) {}

  /// At an end of the pass of `at`, where the neighbour in the direction of the message is on another rank.
  void push(Actions& actions, const Action& at, Pass pass, MessageEnd end) const {
    if (pass == Pass::weight) return;
    const Direction direction = pass == Pass::forward ? Direction::forward : Direction::backward;
    const std::int32_t stage = schedule_.stage(context_.rank, at.chunk);
    const bool sends = end == MessageEnd::send;
    const std::int32_t other = stage + ((direction == Direction::forward) == sends ? 1 : -1);
    if (other < 0 || other >= schedule_.shape.stages()) return;
    if (schedule_.rank_of(other) == context_.rank) return;
    StageMessage message{end, direction, handover(sends ? other : stage, direction), schedule_.rank_of(other)};
    if (sends) message.bytes = boundary(std::max(stage, other));
    actions.push_back(beside(at, message));
  }

 private:
  [[nodiscard]] Handover handover(std::int32_t receiving_stage, Direction direction) const {
    const std::int32_t first = direction == Direction::forward ? 0 : schedule_.shape.virtual_stages - 1;
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

/// As group_of, of passes and their collectives.
struct Group {
  explicit Group(const Action& a) : chunk(a.chunk), micro_batch(a.micro_batch) {
    const auto* compute = std::get_if<ComputePass>(&a.what);
    pass = compute != nullptr ? compute->pass() : a.pass();
  }
  bool operator==(const Group&) const = default;

  std::int32_t chunk;
  std::int32_t micro_batch;
  Pass pass;
};

}  // namespace

Actions add_transfers(const RankContext& context, const Actions& before) {
  const Transfers transfers(context);
  Actions actions;
  actions.reserve(2 * before.size());
  std::optional<Group> last;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Group group(before[i]);
    if (last != group) {
      if (last) transfers.push(actions, before[i - 1], last->pass, MessageEnd::send);
      transfers.push(actions, before[i], group.pass, MessageEnd::receive);
    }
    actions.push_back(before[i]);
    last = group;
  }
  if (last) transfers.push(actions, before.back(), last->pass, MessageEnd::send);
  return actions;
}

}  // namespace plumbline::passes
