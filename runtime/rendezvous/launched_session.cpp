#include "runtime/rendezvous/launched_session.h"

#include <chrono>

#include "runtime/communication/rank_failure.h"

namespace plumbline {

namespace {

/// Ten of the intervals at which others look (runtime/nccl/nccl_watch.h).
constexpr std::chrono::seconds until_others_ask(1);

}  // namespace

void LaunchedSession::run(const std::function<void(World&)>& body) {
  try {
    rendezvous_.join(rank(), size());
    {
      World world(groups_(rank(), size(), rendezvous_), size());
      body(world);
    }
    rendezvous_.leave();
  } catch (...) {
    rendezvous_.report_failure(failure_text(rank(), std::current_exception()));
    rendezvous_.see_off(until_others_ask);
    rethrow_of_rank(rank(), std::current_exception());
  }
}

}  // namespace plumbline
