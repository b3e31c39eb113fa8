#pragma once
/// \file local_wire.h: what the ranks of one process share: mailboxes, the call each is in, who has failed and ended.
///
/// Safe for any thread. Not modelled: several calls of one rank at a time; the last one is its status.
/// Checked against: tests/runtime/communication/local_communicator_threads_test.cpp.

#include <chrono>
#include <exception>
#include <memory>

#include "runtime/communication/wire.h"

namespace plumbline {

class LocalHub {
 public:
  LocalHub(std::int32_t ranks, std::chrono::milliseconds deadline);

  [[nodiscard]] std::int32_t ranks() const { return static_cast<std::int32_t>(mailboxes_.size()); }
  [[nodiscard]] std::chrono::milliseconds deadline() const { return deadline_; }
  [[nodiscard]] Mailbox& mailbox(std::int32_t rank) { return mailboxes_[static_cast<std::size_t>(rank)]; }

  /// "is in barrier 0 of group data".
  void report_status(std::int32_t rank, std::string text);
  /// Of the ranks whose status is not that of `rank`: "rank 2 is in no call; rank 3 has ended".
  [[nodiscard]] std::string elsewhere(std::int32_t rank);

  /// The body of a rank has ended, with an exception or without. The first exception fails all mailboxes.
  void end(std::int32_t rank, std::exception_ptr failure);
  /// Waits for all to end, after the first failure no longer than `grace`.
  void wait(std::chrono::milliseconds grace);
  [[nodiscard]] bool has_ended(std::int32_t rank);
  /// Throws the first failure, if any, with `addition` behind its text.
  void rethrow_first(const std::string& addition);

 private:
  std::chrono::milliseconds deadline_;
  std::deque<Mailbox> mailboxes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> status_;
  std::vector<bool> ended_;
  std::int32_t failed_rank_ = -1;
  std::exception_ptr failure_;
};

class LocalWire : public Wire {
 public:
  LocalWire(std::shared_ptr<LocalHub> hub, std::int32_t rank) : hub_(std::move(hub)), rank_(rank) {}

  [[nodiscard]] std::int32_t own_rank() const override { return rank_; }
  void post(std::int32_t to, std::uint64_t group, std::int32_t tag, Message message) override;
  [[nodiscard]] Message take(const MessageKey& key, const CallSite& site) override;
  void enter(const CallSite& site) override;
  void leave() override;
  void abandon(const std::string& failure) override { hub_->mailbox(rank_).fail(failure); }

 private:
  std::shared_ptr<LocalHub> hub_;
  std::int32_t rank_;
};

}  // namespace plumbline
