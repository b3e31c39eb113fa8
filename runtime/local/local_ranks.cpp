#include "runtime/local/local_ranks.h"

#include <system_error>
#include <thread>

#include "runtime/local/local_wire.h"

namespace plumbline {
namespace {

void run_rank(const std::shared_ptr<LocalHub>& hub, std::int32_t rank, const std::function<void(World&)>& body) {
  std::exception_ptr failure;
  try {
    World world(std::make_shared<LocalWire>(hub, rank), hub->ranks());
    body(world);
  } catch (...) {
    failure = std::current_exception();
  }
  hub->end(rank, failure);
}

/// A thread that the system refuses to start is a rank that has failed.
std::thread start(const std::shared_ptr<LocalHub>& hub, std::int32_t rank, const std::function<void(World&)>& body) {
  try {
    return std::thread([hub, rank, body] { run_rank(hub, rank, body); });
  } catch (const std::system_error&) {
    hub->end(rank, std::current_exception());
    return {};
  }
}

}  // namespace

void run_local_ranks(std::int32_t ranks, const std::function<void(World&)>& body, const LocalOptions& options) {
  check(ranks >= 1, "a run has at least one rank");
  const auto hub = std::make_shared<LocalHub>(ranks, options.deadline);
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) threads.push_back(start(hub, rank, body));
  hub->wait(options.grace);
  std::string abandoned;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    std::thread& thread = threads[static_cast<std::size_t>(rank)];
    if (!thread.joinable()) continue;
    if (hub->has_ended(rank)) {
      thread.join();
    } else {
      thread.detach();
      abandoned += "; rank " + std::to_string(rank) + " did not end";
    }
  }
  hub->rethrow_first(abandoned);
}

}  // namespace plumbline
