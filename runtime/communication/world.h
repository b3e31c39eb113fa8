#pragma once
/// \file world.h: one rank among all ranks of a run, and the groups that it makes.
///
/// Model: groups cost nothing to make; nobody waits for anybody. Ranks that make several groups of one name and one set
/// of ranks make them in the same order.
/// Not modelled: ranks that join or leave. Checked against:
/// tests/runtime/communication/local_communicator_threads_test.cpp.

#include <memory>

#include "runtime/communication/wire.h"

namespace plumbline {

class World {
 public:
  World(std::shared_ptr<Wire> wire, std::int32_t ranks) : wire_(std::move(wire)), ranks_(ranks) {}

  [[nodiscard]] std::int32_t rank() const { return wire_->own_rank(); }
  [[nodiscard]] std::int32_t size() const { return ranks_; }
  /// `set` holds this rank; its ranks ascend and are in the world.
  [[nodiscard]] std::unique_ptr<Communicator> communicator(RankSet set);
  /// Ends what this rank's lanes wait for, where it has failed.
  void abandon(const std::string& failure) { wire_->abandon(failure); }
  /// The group of all ranks.
  [[nodiscard]] std::unique_ptr<Communicator> everyone(const std::string& name);

 private:
  std::shared_ptr<Wire> wire_;
  std::int32_t ranks_;
  std::map<std::uint64_t, std::int32_t> made_;  ///< groups by their first key
};

}  // namespace plumbline
