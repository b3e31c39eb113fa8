#include "runtime/run/message_order.h"

#include <map>
#include <tuple>

namespace plumbline {
namespace {

bool is_receive(ActionKind kind) { return kind == ActionKind::receive_forward || kind == ActionKind::receive_backward; }

}  // namespace

std::optional<std::string> first_reordered_message(const Program& program) {
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    std::map<std::pair<std::int32_t, Pass>, std::int32_t> last;  // action of the sender, by sender and direction
    for (const Action& action : program.ranks[rank].actions) {
      if (!is_receive(action.kind)) continue;
      const auto [before, is_first] = last.try_emplace({action.peer, action.pass}, -1);
      if (action.peer_action < before->second)
        return "pipeline rank " + std::to_string(rank) + " receives what rank " + std::to_string(action.peer) +
               " sends in another order, at " + to_text(action);
      before->second = action.peer_action;
    }
  }
  return std::nullopt;
}

}  // namespace plumbline
