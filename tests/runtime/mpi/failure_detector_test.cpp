#include "runtime/mpi/failure_detector.h"

#include "tests/catch.h"
#include "tests/runtime/mpi/memory_job.h"

namespace plumbline {
namespace {

TEST_CASE("a failure ends the waits of all other ranks with its text") {
  MemoryJob job(3);
  job[1].failures.report_failure("rank 1 failed: disk full");
  CHECK(job[0].mailbox.failure() == "rank 1 failed: disk full");
  CHECK(job[2].mailbox.failure() == "rank 1 failed: disk full");
  CHECK_FALSE(job[1].mailbox.failure());
}

TEST_CASE("the rank that failed learns what the others were doing") {
  MemoryJob job(4);
  for (std::size_t rank = 0; rank < 4; ++rank) job[rank].failures.report_action(10 + static_cast<std::int32_t>(rank));
  job[2].failures.receive_action(3, 12);  // with its last message
  job.stop(3);
  job[2].failures.report_failure("rank 2 failed: disk full");
  CHECK(job[2].failures.peer_status() == std::vector<PeerStatus>{{10, true}, {11, true}, {12, true}, {12, false}});
}

TEST_CASE("only the lowest of the ranks that failed by themselves reports") {
  MemoryJob job(3);
  job.stop(1);  // before it hears of rank 2
  job[2].failures.report_failure("rank 2 failed: disk full");
  CHECK(job[2].failures.is_reporter());
  job[1].failures.report_failure("rank 1 failed: no memory");
  CHECK(job[1].failures.is_reporter());
  CHECK_FALSE(job[2].failures.is_reporter());
}

TEST_CASE("a rank that ends because of another hands that failure on") {
  MemoryJob job(3);
  job.stop(0);  // whom rank 2's own message does not reach
  job[2].failures.report_failure("rank 2 failed: disk full");
  job.go_on(0);
  job[1].failures.report_failure("rank 1 stopped in barrier 0: rank 2 failed: disk full");
  CHECK_FALSE(job[1].failures.is_reporter());
  CHECK(job[0].mailbox.failure() == "rank 2 failed: disk full");
}

TEST_CASE("a failure is reported once") {
  MemoryJob job(2);
  job[0].failures.report_failure("rank 0 failed: disk full");
  job[0].failures.report_failure("rank 0 failed: again");
  CHECK(job[1].mailbox.failure() == "rank 0 failed: disk full");
}

}  // namespace
}  // namespace plumbline
