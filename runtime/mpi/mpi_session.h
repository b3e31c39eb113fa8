#pragma once
/// \file mpi_session.h: this process as one rank of an MPI job.
///
/// Model: MPI carries messages (mpi_transport.h); sums, order and counts are those of
/// runtime/communication/exchange_communicator.h. A rank that throws tells all others, whose calls then end
/// (failure_detector.h); one that waits too long asks the others for whom they wait (wait_graph.h). A process that is
/// killed ends the job through mpirun (runtime/run/watched_process.h says whose it was). Not modelled: device memory;
/// processes that join later. Checked against: tests/runtime/mpi/mpi_test.py (the bits and bytes of the local ranks;
/// faults), tests/integration/mpi_run_test.py (whole runs). Built without MPI it can only say so (mpi_absent.cpp).

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/communication/process_session.h"

namespace plumbline {

class MpiWire;

struct MpiOptions {
  std::chrono::milliseconds deadline{25'000};     ///< that a rank waits for another one in a call, and at the end
  std::int64_t largest_fragment = 1'000'000'000;  ///< bytes of one MPI message, whose counts are 32-bit integers
};

/// At most one in the life of a process.
class MpiSession : public ProcessSession {
 public:
  /// Whether this program was built with MPI.
  [[nodiscard]] static bool is_built();
  /// Starts MPI. Throws InputError when a launcher's variables contradict it, EnvironmentError when it cannot start.
  explicit MpiSession(const MpiOptions& options = {});
  ~MpiSession() override;

  [[nodiscard]] std::int32_t rank() const override;
  [[nodiscard]] std::int32_t size() const override;
  /// How many of the ranks share this computer's memory.
  [[nodiscard]] std::int32_t ranks_on_host() const override;
  /// This rank's action: a number of the program, or -1 for none. The others are told when one of them fails.
  void report_action(std::int32_t action) override;
  /// By rank, what is known after a failure.
  [[nodiscard]] std::vector<PeerStatus> peer_status() const override;
  /// Runs `body`, waits for all ranks to finish theirs, and ends MPI. A failure is told to the other ranks and thrown
  /// as run_local_ranks does; MPI then still runs, and the process should call `end_all`.
  void run(const std::function<void(World&)>& body) override;
  /// What main() does with a failure: tells the others unless `run` has, lets one of the ranks `print` it, and ends all
  /// processes of the job with this exit code.
  [[noreturn]] void fail(const std::string& failure, int exit_code, const std::function<void()>& print);
  /// Ends all processes of the job at once.
  [[noreturn]] void end_all(int exit_code);

 private:
  std::shared_ptr<MpiWire> wire_;
};

}  // namespace plumbline
