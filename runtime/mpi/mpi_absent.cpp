// What mpi_session.h is in a build without MPI.
#include <cstdlib>

#include "core/base/errors.h"
#include "runtime/mpi/mpi_session.h"

namespace plumbline {

bool MpiSession::is_built() { return false; }

MpiSession::MpiSession(const MpiOptions&) { throw EnvironmentError("this program was built without MPI"); }
MpiSession::~MpiSession() = default;

// There is no session to call these on.
std::int32_t MpiSession::rank() const { return 0; }
std::int32_t MpiSession::size() const { return 0; }
std::int32_t MpiSession::ranks_on_host() const { return 0; }
void MpiSession::report_action(std::int32_t) {}
std::vector<PeerStatus> MpiSession::peer_status() const { return {}; }
void MpiSession::run(const std::function<void(World&)>&) {}
void MpiSession::fail(const std::string&, int exit_code, const std::function<void()>&) { end_all(exit_code); }
void MpiSession::end_all(int exit_code) { std::_Exit(exit_code); }

}  // namespace plumbline
