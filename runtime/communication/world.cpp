#include "runtime/communication/world.h"

#include <numeric>

#include "runtime/communication/exchange_communicator.h"

namespace plumbline {
namespace {

class WireGroups : public GroupMaker {
 public:
  explicit WireGroups(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}

  [[nodiscard]] std::int32_t own_rank() const override { return wire_->own_rank(); }
  [[nodiscard]] std::unique_ptr<Communicator> communicator(RankSet set, Messages) override {
    const std::int32_t instance = made_[group_key(set, 0)]++;
    return std::make_unique<ExchangeCommunicator>(wire_, std::move(set), instance);
  }
  void abandon(const std::string& failure) override { wire_->abandon(failure); }

 private:
  std::shared_ptr<Wire> wire_;
  std::map<std::uint64_t, std::int32_t> made_;  ///< groups by their first key
};

}  // namespace

World::World(const std::shared_ptr<Wire>& wire, std::int32_t ranks)
    : World(std::make_shared<WireGroups>(wire), ranks) {}

std::unique_ptr<Communicator> World::communicator(RankSet set, Messages messages) {
  check(!set.ranks.empty() && set.ranks.front() >= 0 && set.ranks.back() < ranks_, "ranks of a group are in the world");
  return groups_->communicator(std::move(set), messages);
}

std::unique_ptr<Communicator> World::everyone(const std::string& name) {
  RankSet set{name, std::vector<std::int32_t>(static_cast<std::size_t>(ranks_))};
  std::iota(set.ranks.begin(), set.ranks.end(), 0);
  return communicator(std::move(set));
}

}  // namespace plumbline
