#include "runtime/run/message_order.h"

#include <map>
#include <tuple>

#include "core/program/action_kinds.h"

namespace plumbline {

std::optional<std::string> first_reordered_message(const Program& program) {
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    std::map<std::pair<std::int32_t, Direction>, std::int32_t> last;  // action of the sender, by sender and direction
    for (const Action& action : program.ranks[rank].actions) {
      const StageMessage* received = received_by(action);
      if (received == nullptr) continue;
      const auto [before, is_first] = last.try_emplace({received->peer, received->direction}, -1);
      if (received->peer_action < before->second)
        return "pipeline rank " + std::to_string(rank) + " receives what rank " + std::to_string(received->peer) +
               " sends in another order, at " + to_text(action);
      before->second = received->peer_action;
    }
  }
  return std::nullopt;
}

}  // namespace plumbline
