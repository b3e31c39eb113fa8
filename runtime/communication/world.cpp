#include "runtime/communication/world.h"

#include <numeric>

#include "runtime/communication/exchange_communicator.h"

namespace plumbline {

std::unique_ptr<Communicator> World::communicator(RankSet set) {
  check(!set.ranks.empty() && set.ranks.front() >= 0 && set.ranks.back() < ranks_, "ranks of a group are in the world");
  const std::int32_t instance = made_[group_key(set, 0)]++;
  return std::make_unique<ExchangeCommunicator>(wire_, std::move(set), instance);
}

std::unique_ptr<Communicator> World::everyone(const std::string& name) {
  RankSet set{name, std::vector<std::int32_t>(static_cast<std::size_t>(ranks_))};
  std::iota(set.ranks.begin(), set.ranks.end(), 0);
  return communicator(std::move(set));
}

}  // namespace plumbline
