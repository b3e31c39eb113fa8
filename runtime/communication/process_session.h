#pragma once
/// \file process_session.h: this process as one rank of a job that a launcher started.
///
/// Answers: which rank it is, and a world for its work. Implemented by runtime/mpi/mpi_session.h and
/// runtime/rendezvous/launched_session.h. Checked against: tests/integration/mpi_run_test.py.

#include <functional>

#include "runtime/communication/peer_status.h"
#include "runtime/communication/world.h"

namespace plumbline {

class ProcessSession {
 public:
  ProcessSession() = default;
  ProcessSession(const ProcessSession&) = delete;
  ProcessSession& operator=(const ProcessSession&) = delete;
  virtual ~ProcessSession() = default;

  [[nodiscard]] virtual std::int32_t rank() const = 0;
  [[nodiscard]] virtual std::int32_t size() const = 0;
  /// How many of the ranks share this computer's memory.
  [[nodiscard]] virtual std::int32_t ranks_on_host() const = 0;
  /// This rank's action: a number of the program, or -1 for none. The others are told when one of them fails.
  virtual void report_action(std::int32_t action) = 0;
  /// By rank, what is known after a failure; empty: nothing.
  [[nodiscard]] virtual std::vector<PeerStatus> peer_status() const = 0;
  /// Runs `body`. Its failure is told to the other ranks, and thrown as run_local_ranks does.
  virtual void run(const std::function<void(World&)>& body) = 0;
};

}  // namespace plumbline
