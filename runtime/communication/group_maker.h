#pragma once
/// \file group_maker.h: what makes the communicators of one rank.
///
/// Answers: a rank's end of a group, over messages of ours (world.h) or a library's collectives (runtime/nccl). Model:
/// every rank of a group makes it; ranks make their groups in one order. Checked against:
/// tests/runtime/communication/local_communicator_threads_test.cpp, tests/cuda/nccl_communicator_test.cpp.

#include <memory>

#include "runtime/communication/communicator.h"

namespace plumbline {

/// Between which of a group's ranks messages go, for those who prepare their ways. `any`: seldom, and of the host's
/// memory. `each`: all at once, from each to each. `ring`: to the next. `stages`: to both neighbours, in two
/// directions: an odd tag is of a backward.
enum class Messages : std::uint8_t { any, each, ring, stages };

class GroupMaker {
 public:
  GroupMaker() = default;
  GroupMaker(const GroupMaker&) = delete;
  GroupMaker& operator=(const GroupMaker&) = delete;
  virtual ~GroupMaker() = default;

  [[nodiscard]] virtual std::int32_t own_rank() const = 0;
  /// `set` holds this rank.
  [[nodiscard]] virtual std::unique_ptr<Communicator> communicator(RankSet set, Messages messages) = 0;
  /// Ends what this rank's lanes wait for, where it has failed.
  virtual void abandon(const std::string& failure) = 0;
  /// Which action of its program the rank is at; -1: none. For what errors say.
  virtual void report_action(std::int32_t) {}
};

}  // namespace plumbline
