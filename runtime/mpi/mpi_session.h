#pragma once
/// \file mpi_session.h: this process as one rank of an MPI job.
///
/// Model: MPI carries messages; sums, order and counts are those of runtime/exchange_communicator.h. One thread of the
/// session receives whatever comes and completes sends, so that a rank that computes still delivers; it sleeps between
/// looks. A rank that throws tells all others, whose calls then end, and asks where they stand; of several that fail at
/// once the lowest speaks. One that is killed ends the job through mpirun (runtime/watched_process.h says who it was).
/// A rank whose wait fails asks the one that it waited for whom that one waits for, and so on: of a barrier's rounds or
/// a ring the first to give up seldom waits for the rank that never came. One that waits at its end asks all.
/// Source: MPI 3.1, chapters 3 (matched probes, order of messages) and 12 (threads: one at a time).
/// Not modelled: device memory; processes that join later.
/// Checked against: tests/runtime/mpi/mpi_test.py (the bits and bytes of the local ranks; faults),
/// tests/integration/mpi_run_test.py (whole runs). Built without MPI it can only say so (mpi_absent.cpp).

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/world.h"

namespace plumbline {

struct MpiOptions {
  std::chrono::milliseconds deadline{25'000};     ///< that a rank waits for another one in a call, and at the end
  std::int64_t largest_fragment = 1'000'000'000;  ///< bytes of one MPI message, whose counts are 32-bit integers
};

/// At most one in the life of a process.
class MpiSession {
 public:
  /// Whether this program was built with MPI.
  [[nodiscard]] static bool is_built();
  /// Starts MPI. Throws InputError when a launcher's variables contradict it, EnvironmentError when it cannot start.
  explicit MpiSession(const MpiOptions& options = {});
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession();

  [[nodiscard]] std::int32_t rank() const;
  [[nodiscard]] std::int32_t size() const;
  /// How many of the ranks share this computer's memory.
  [[nodiscard]] std::int32_t ranks_here() const;
  /// Where this rank is: an action's number, or -1 for none. The others hear of it when one of them fails.
  void stand_at(std::int32_t action);
  /// By rank, what is known after a failure: of those that do not answer, where they were when they last sent.
  struct Standing {
    std::int32_t action = -1;
    bool answers = true;
  };
  [[nodiscard]] std::vector<Standing> standings() const;
  /// Runs `body`, waits for all ranks to finish theirs, and ends MPI. A failure is told to the other ranks and thrown
  /// as run_local_ranks does; MPI then still runs, and the process should call `end_all`.
  void run(const std::function<void(World&)>& body);
  /// What main() does with a failure: tells the others unless `run` has, lets one of the ranks `say` it, and ends all
  /// processes of the job with this exit code.
  [[noreturn]] void fail(const std::string& failure, int exit_code, const std::function<void()>& say);
  /// Ends all processes of the job at once.
  [[noreturn]] void end_all(int exit_code);

 private:
  class Hub;
  std::shared_ptr<Hub> hub_;
};

}  // namespace plumbline
