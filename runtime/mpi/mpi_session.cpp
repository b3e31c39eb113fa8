#include "runtime/mpi/mpi_session.h"

#include <mpi.h>

#include <cstdlib>

#include "runtime/communication/rank_failure.h"
#include "runtime/mpi/mpi_wire.h"

namespace plumbline {
namespace {

constexpr std::chrono::seconds time_to_report(5);  // for the rank that prints what failed

}  // namespace

bool MpiSession::is_built() { return true; }

MpiSession::MpiSession(const MpiOptions& options) : wire_(std::make_shared<MpiWire>(options)) {}
MpiSession::~MpiSession() = default;
std::int32_t MpiSession::rank() const { return wire_->transport().rank(); }
std::int32_t MpiSession::size() const { return wire_->transport().size(); }
std::int32_t MpiSession::ranks_on_host() const { return wire_->transport().ranks_on_host(); }
void MpiSession::report_action(std::int32_t action) { wire_->failures().report_action(action); }
std::vector<PeerStatus> MpiSession::peer_status() const { return wire_->failures().peer_status(); }

void MpiSession::run(const std::function<void(World&)>& body) {
  try {
    World world(wire_, size());
    body(world);
    wire_->finish();
  } catch (...) {
    wire_->failures().report_failure(failure_text(rank(), std::current_exception()));
    rethrow_of_rank(rank(), std::current_exception());
  }
}

void MpiSession::fail(const std::string& failure, int exit_code, const std::function<void()>& print) {
  if (wire_->transport().is_finalized()) {  // nobody is left to be told
    print();
    std::_Exit(exit_code);
  }
  wire_->failures().report_failure(failure);
  if (wire_->failures().is_reporter())
    print();
  else
    std::this_thread::sleep_for(time_to_report);  // and to end this process
  end_all(exit_code);
}

void MpiSession::end_all(int exit_code) {
  wire_->transport().stop();  // MPI is called by one thread at a time
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);  // MPI_Abort does not return, but is not declared so
}

}  // namespace plumbline
