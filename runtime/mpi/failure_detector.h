#pragma once
/// \file failure_detector.h: news of failures between ranks, and what each rank was doing.
///
/// Model: a rank that fails tells all others, whose calls then end with its text; they answer with their action. A rank
/// that ends because of another's failure hands that failure on, since its own message may arrive first. Of several
/// ranks that fail by themselves the lowest one reports. Safe for any thread.
/// Not modelled: processes that are killed (runtime/run/watched_process.h).
/// Checked against: tests/runtime/mpi/failure_detector_test.cpp, tests/integration/mpi_run_test.py.

#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/communication/mailbox.h"
#include "runtime/communication/peer_status.h"
#include "runtime/mpi/peer_channel.h"

namespace plumbline {

class FailureDetector {
 public:
  /// A failure that is received ends the waits on `mailbox`.
  FailureDetector(PeerChannel& channel, Mailbox& mailbox);

  /// This rank's action: a number of the program, or -1 for none.
  void report_action(std::int32_t action) { action_ = action; }
  [[nodiscard]] std::int32_t action() const { return action_; }
  /// The action of a rank, as its last message said.
  void receive_action(std::int32_t from, std::int32_t action);

  /// Tells every other rank, once, and waits up to two seconds for the message to leave and for answers.
  void report_failure(const std::string& failure);
  /// Ends this rank's calls, and answers if `from` failed by itself.
  void receive_failure(std::int32_t from, std::span<const std::byte> news);
  void receive_status(std::int32_t from, std::span<const std::byte> status);

  /// Whether this rank failed by itself and is the lowest known to have done so.
  [[nodiscard]] bool is_reporter() const { return failed_itself_ && lowest_failed_ >= channel_.rank(); }
  /// By rank.
  [[nodiscard]] std::vector<PeerStatus> peer_status() const;

 private:
  void send_failure(const std::string& failure);
  [[nodiscard]] bool all_answered() const;

  PeerChannel& channel_;
  Mailbox& mailbox_;
  std::atomic<std::int32_t> action_{-1};
  std::atomic<std::int32_t> lowest_failed_;  ///< of the other ranks that failed by themselves
  bool has_reported_ = false;
  bool failed_itself_ = false;
  /// While a failure is sent or received: who has this rank's answer has had its own failure before, and two ranks that
  /// fail at once agree on the one that reports.
  std::mutex news_mutex_;
  mutable std::mutex mutex_;        ///< over `status_`
  std::vector<PeerStatus> status_;  ///< of the others
};

}  // namespace plumbline
