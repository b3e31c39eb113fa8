// One process of an MPI job. `agree`: every call gives the bits and counts of ranks that are threads. The others fail
// on purpose. Exits with 0, or with 3 and one line for each rank that was told why; `bug` with 70 and the line of the
// rank that it is of, as plan run does.

#include "runtime/mpi/mpi_session.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <thread>

#include "runtime/local/local_ranks.h"
#include "tests/runtime/communication/communicator_scenario.h"

namespace plumbline {
namespace {

void require(bool holds, const std::string& what, std::int32_t rank) {
  if (!holds) throw InternalError("rank " + std::to_string(rank) + ": " + what + " differ between MPI and threads");
}

void agree(World& world) {
  const ScenarioOutcome over_mpi = run_scenario(world);
  ScenarioOutcome over_threads;
  run_local_ranks(world.size(), [&](World& local) {
    ScenarioOutcome outcome = run_scenario(local);
    if (local.rank() == world.rank()) over_threads = std::move(outcome);
  });
  require(over_mpi.results == over_threads.results, "results", world.rank());
  for (std::size_t group = 0; group < over_mpi.sent.size(); ++group) {
    require(over_mpi.sent[group].bytes == over_threads.sent[group].bytes, "bytes", world.rank());
    require(over_mpi.sent[group].calls == over_threads.sent[group].calls, "calls", world.rank());
  }
  if (world.rank() == 0) std::cout << over_mpi.results.size() << " bytes agree" << std::endl;
}

void meet(World& world) { world.everyone("data")->barrier(); }

void fault(const std::string& kind, World& world) {
  meet(world);
  if (world.rank() == 2) {
    if (kind == "throw") throw EnvironmentError("disk full");
    if (kind == "bug") check(false, "an operator has its inputs");
    if (kind == "kill") std::raise(SIGKILL);
    if (kind == "hang" || kind == "impatient") std::this_thread::sleep_for(std::chrono::seconds(20));
    if (kind == "end") return;
  }
  meet(world);
}

/// Before MPI has started; by what Open MPI or MPICH tells a process.
bool is_rank_1() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* rank = std::getenv(name)) return std::string(rank) == "1";
  return false;
}

int run(const std::string& kind) {
  MpiOptions options;
  if (kind == "fragments") options.largest_fragment = 7;
  if (kind == "hang" || kind == "end") options.deadline = std::chrono::seconds(5);
  if (kind == "impatient" && is_rank_1()) options.deadline = std::chrono::seconds(4);
  MpiSession session(options);
  try {
    session.run([&](World& world) { kind == "agree" || kind == "fragments" ? agree(world) : fault(kind, world); });
  } catch (const std::exception& error) {
    if (kind == "bug") {
      const bool is_bug = dynamic_cast<const InternalError*>(&error) != nullptr;
      session.fail(error.what(), is_bug ? 70 : 3, [&] { std::cerr << std::string(error.what()) + "\n" << std::flush; });
    }
    std::cerr << std::string(error.what()) + "\n" << std::flush;
    std::this_thread::sleep_for(std::chrono::seconds(3));  // so that every rank can say what it was told
    session.end_all(3);
  }
  return 0;
}

}  // namespace
}  // namespace plumbline

int main(int, char** arguments) {
  try {
    return plumbline::run(arguments[1]);
  } catch (const std::exception& error) {
    std::cerr << std::string(error.what()) + "\n" << std::flush;
    return 2;
  }
}
