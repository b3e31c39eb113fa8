#pragma once
/// \file rank_places.h: what every rank of a run was doing, for the one line that says why it ended.
///
/// Checked against: tests/runtime/execution/recipes_test.cpp, tests/integration/mpi_run_test.py.

#include <atomic>
#include <string>
#include <vector>

#include "runtime/communication/peer_status.h"
#include "runtime/run/trainer.h"

namespace plumbline {

/// Of the ranks of one process. Safe for any thread.
class RankPlaces {
 public:
  explicit RankPlaces(std::size_t ranks);

  void report_action(std::int32_t rank, std::int32_t action) { actions_[static_cast<std::size_t>(rank)] = action; }
  [[nodiscard]] std::vector<PeerStatus> status() const;

  /// When a rank's work has ended, one way or the other, it has no action.
  class AtWork {
   public:
    AtWork(RankPlaces& places, std::int32_t rank) : places_(places), rank_(rank) {}
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    ~AtWork() { places_.report_action(rank_, -1); }

   private:
    RankPlaces& places_;
    std::int32_t rank_;
  };

 private:
  std::vector<std::atomic<std::int32_t>> actions_;
};

/// "; rank 2 (stage 1) at forward 3 of chunk 0" for each rank but `failed` that has not ended; at most sixteen.
[[nodiscard]] std::string places_text(const TrainingJob& job, const std::vector<PeerStatus>& ranks,
                                      std::int32_t failed);

}  // namespace plumbline
