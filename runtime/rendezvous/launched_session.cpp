#include "runtime/rendezvous/launched_session.h"

#include "runtime/communication/rank_failure.h"

namespace plumbline {

void LaunchedSession::run(const std::function<void(World&)>& body) {
  try {
    World world(groups_(rank(), size(), rendezvous_), size());
    body(world);
  } catch (...) {
    rendezvous_.report_failure(failure_text(rank(), std::current_exception()));
    rethrow_of_rank(rank(), std::current_exception());
  }
}

}  // namespace plumbline
