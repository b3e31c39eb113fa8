#include "runtime/mpi/wait_graph.h"

#include "tests/catch.h"
#include "tests/runtime/mpi/memory_job.h"

namespace plumbline {
namespace {

TEST_CASE("a chain of waits ends at the rank that waits for nobody") {
  MemoryJob job(4);
  job[1].waits.wait_for(3);
  job[3].waits.wait_for(2);
  CHECK(job[1].waits.chain_from(3) == "rank 3 waits for rank 2, rank 2 waits for nobody");
}

TEST_CASE("a chain of waits that comes back to the asking rank is named whole") {
  MemoryJob job(3);
  job[0].waits.wait_for(1);
  job[1].waits.wait_for(2);
  job[2].waits.wait_for(0);
  CHECK(job[0].waits.chain_from(1) == "rank 1 waits for rank 2, rank 2 waits for rank 0");
}

TEST_CASE("a chain of waits names the rank that does not answer and the one that has finished") {
  MemoryJob job(3);
  job.stop(1);
  job[2].waits.finish();
  CHECK(job[0].waits.chain_from(1) == "rank 1 does not answer");
  CHECK(job[0].waits.chain_from(2) == "rank 2 is at its end");
}

TEST_CASE("a rank that received what it waited for waits for nobody") {
  MemoryJob job(2);
  job[1].waits.wait_for(0);
  job[1].waits.stop_waiting();
  CHECK(job[0].waits.chain_from(1) == "rank 1 waits for nobody");
}

TEST_CASE("unfinished ranks are named with whom they wait for, at most eight") {
  MemoryJob job(12);
  job[0].waits.finish();
  job[1].waits.finish();
  job[2].waits.wait_for(5);
  const std::string text = job[0].waits.unfinished_ranks();
  CHECK(text.starts_with("; rank 2 waits for rank 5, rank 3 waits for nobody"));
  CHECK(text.ends_with("rank 9 waits for nobody"));
}

}  // namespace
}  // namespace plumbline
