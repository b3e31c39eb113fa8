#pragma once
/// \file wait_graph.h: which rank waits for which, asked when a wait has lasted too long.
///
/// Model: a rank whose wait fails asks the rank that it waited for whom that one waits for, and so on: in the rounds of
/// a barrier or a ring the first to give up seldom waits for the rank that never came. Safe for any thread.
/// Checked against: tests/runtime/mpi/wait_graph_test.cpp, tests/runtime/mpi/mpi_test.py.

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/mpi/peer_channel.h"

namespace plumbline {

class WaitGraph {
 public:
  explicit WaitGraph(PeerChannel& channel);

  /// What this rank answers from here: that it waits for `rank`, for nobody, or has done its work.
  void wait_for(std::int32_t rank) { awaited_ = rank; }
  void stop_waiting();
  void finish();

  /// What keeps `awaited` from going on: "rank 3 waits for rank 2, rank 2 waits for nobody". Asks rank after rank.
  [[nodiscard]] std::string chain_from(std::int32_t awaited);
  /// All others that have not finished: "; rank 0 waits for rank 2, rank 1 does not answer"; at most eight are named.
  [[nodiscard]] std::string unfinished_ranks();

  void receive_question(std::int32_t from);
  void receive_answer(std::int32_t from, std::span<const std::byte> answer);

 private:
  /// For whom each of `ranks` waits; none of a rank that does not answer in a second.
  [[nodiscard]] std::vector<std::optional<std::int32_t>> ask(const std::vector<std::int32_t>& ranks);

  PeerChannel& channel_;
  std::atomic<std::int32_t> awaited_;
  std::mutex mutex_;                                  ///< over `answers_`
  std::vector<std::optional<std::int32_t>> answers_;  ///< by rank, to the latest question
};

}  // namespace plumbline
