#pragma once
/// \file world.h: one rank among all ranks of a run, and the groups that it makes.
///
/// Model: groups of a wire cost nothing to make, and nobody waits for anybody; others may take a while. Ranks that make
/// several groups of one name and one set of ranks make them in the same order.
/// Not modelled: ranks that join or leave. Checked against:
/// tests/runtime/communication/local_communicator_threads_test.cpp.

#include "runtime/communication/group_maker.h"
#include "runtime/communication/wire.h"

namespace plumbline {

class World {
 public:
  World(const std::shared_ptr<Wire>& wire, std::int32_t ranks);
  World(std::shared_ptr<GroupMaker> groups, std::int32_t ranks) : groups_(std::move(groups)), ranks_(ranks) {}

  [[nodiscard]] std::int32_t rank() const { return groups_->own_rank(); }
  [[nodiscard]] std::int32_t size() const { return ranks_; }
  /// `set` holds this rank; its ranks ascend and are in the world.
  [[nodiscard]] std::unique_ptr<Communicator> communicator(RankSet set, Messages messages = Messages::any);
  /// Ends what this rank's lanes wait for, where it has failed.
  void abandon(const std::string& failure) { groups_->abandon(failure); }
  void report_action(std::int32_t action) { groups_->report_action(action); }
  /// The group of all ranks.
  [[nodiscard]] std::unique_ptr<Communicator> everyone(const std::string& name);

 private:
  std::shared_ptr<GroupMaker> groups_;
  std::int32_t ranks_;
};

}  // namespace plumbline
