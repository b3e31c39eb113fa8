#include "core/base/errors.h"
#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

bool is_send(const Action& a) { return a.kind == ActionKind::send_forward || a.kind == ActionKind::send_backward; }
bool is_receive(const Action& a) {
  return a.kind == ActionKind::receive_forward || a.kind == ActionKind::receive_backward;
}

/// A rank does one thing after another; sends, and what arrives in transit, occupy nobody.
void link_rank(RankProgram& rank) {
  std::int32_t last = -1;
  std::int32_t arrived = -1;
  for (std::int32_t i = 0; i < std::ssize(rank.actions); ++i) {
    Action& action = rank.actions[static_cast<std::size_t>(i)];
    if (is_receive(action) && action.handover == Handover::in_transit) {
      arrived = i;
      continue;
    }
    action.needs = {last, arrived};
    if (is_send(action)) continue;
    arrived = -1;
    last = i;
  }
}

/// Where each stage's results are sent: by direction, receiving stage and micro-batch.
class Mailboxes {
 public:
  explicit Mailboxes(const Program& program)
      : program_(program), sends_(static_cast<std::size_t>(program.shape.stages()) * 2 * micro_batches(), -1) {}

  [[nodiscard]] std::int32_t& of(std::int32_t rank, const Action& a) {
    const bool forward = a.pass == Pass::forward;
    std::int32_t stage = stage_of(program_.placement, program_.shape.pipeline_stages, rank, a.chunk);
    if (is_send(a)) stage += forward ? 1 : -1;
    const std::size_t direction = forward ? 0 : 1;
    return sends_[(static_cast<std::size_t>(stage) * 2 + direction) * micro_batches() +
                  static_cast<std::size_t>(a.micro_batch)];
  }

 private:
  [[nodiscard]] std::size_t micro_batches() const { return static_cast<std::size_t>(program_.shape.micro_batches); }
  const Program& program_;
  std::vector<std::int32_t> sends_;
};

template <class Visit>
void for_each_action(Program& program, Visit visit) {
  for (std::int32_t rank = 0; rank < std::ssize(program.ranks); ++rank) {
    std::vector<Action>& actions = program.ranks[static_cast<std::size_t>(rank)].actions;
    for (std::int32_t i = 0; i < std::ssize(actions); ++i) visit(rank, i, actions[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

void link(Program& program) {
  Mailboxes mailboxes(program);
  for (RankProgram& rank : program.ranks) link_rank(rank);
  for_each_action(program, [&](std::int32_t rank, std::int32_t i, const Action& a) {
    if (is_send(a)) mailboxes.of(rank, a) = i;
  });
  for_each_action(program, [&](std::int32_t rank, std::int32_t i, Action& a) {
    if (!is_receive(a)) return;
    a.peer_action = mailboxes.of(rank, a);
    check(a.peer_action >= 0, "who receives is sent to");
    program.ranks[static_cast<std::size_t>(a.peer)].actions[static_cast<std::size_t>(a.peer_action)].peer_action = i;
  });
}

}  // namespace plumbline::passes
