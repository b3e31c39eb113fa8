#pragma once
/// \file wire.h: how one rank hands a message to another: all that a transport must provide.
///
/// Model: buffered sends, receives with a deadline, order kept between two ranks in one group and tag.
/// Not modelled: routes, rates. Checked against: the collectives that are made of it, between threads
/// (tests/runtime/communication/local_communicator_threads_test.cpp) and processes (tests/runtime/mpi/mpi_ranks.cpp).

#include <chrono>
#include <functional>

#include "core/base/errors.h"
#include "runtime/communication/mailbox.h"

namespace plumbline {

/// A call ended without its data. The text names the rank, the call and the group.
class CommunicationError : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// The call that a rank is in: "all-reduce 7 of group data".
struct CallSite {
  std::string group;
  Collective kind = Collective::barrier;
  std::int64_t sequence = 0;
};
[[nodiscard]] std::string to_text(const CallSite& site);

/// The key of a group's messages: the same on all its ranks, another for each name, set of ranks and `instance` (how
/// many groups of this name and set the rank made before).
[[nodiscard]] std::uint64_t group_key(const RankSet& set, std::int32_t instance);

/// One rank's access to all others. Ranks are numbers in the world.
class Wire {
 public:
  Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  [[nodiscard]] virtual std::int32_t own_rank() const = 0;
  /// Copies the payload and returns.
  virtual void post(std::int32_t to, std::uint64_t group, std::int32_t tag, Message message) = 0;
  /// Throws CommunicationError that names this rank, `site` and the missing rank when nothing comes in time.
  [[nodiscard]] virtual Message take(const MessageKey& key, const CallSite& site) = 0;
  /// The rank begins or ends a call, so that others can say which it is in.
  virtual void enter(const CallSite& site) = 0;
  virtual void leave() = 0;
  /// Every call of this rank that waits, or will, throws EnvironmentError with this text. The first failure stays.
  virtual void abandon(const std::string& failure) = 0;
};

/// "25 s", for messages.
[[nodiscard]] std::string duration_text(std::chrono::milliseconds duration);

/// What a wire's `take` does with its mailbox: waits, or throws CommunicationError for `rank` at `site`, with what
/// `elsewhere` says of the other ranks, if anything.
[[nodiscard]] Message take_or_explain(Mailbox& mailbox, const MessageKey& key, const CallSite& site, std::int32_t rank,
                                      std::chrono::milliseconds deadline,
                                      const std::function<std::string()>& elsewhere = {});

}  // namespace plumbline
