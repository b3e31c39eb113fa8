#include "runtime/mpi/mpi_transport.h"

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <list>
#include <mutex>
#include <set>

#include "runtime/mpi/launch_place.h"

namespace plumbline {
namespace {

void require(int code, const char* call, std::int32_t rank) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw EnvironmentError(rank_name(rank) + ": " + call + ": " + text.data() + " (" + std::to_string(code) + ")");
}

std::int32_t count_ranks_on_host(MPI_Comm everyone, std::int32_t rank) {
  MPI_Comm host = MPI_COMM_NULL;
  require(MPI_Comm_split_type(everyone, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host), "MPI_Comm_split_type", rank);
  int ranks = 1;
  MPI_Comm_size(host, &ranks);
  MPI_Comm_free(&host);
  return ranks;
}

}  // namespace

struct MpiTransport::Requests {
  struct Sending {
    std::vector<std::byte> data;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Receiving {
    std::vector<std::byte> data;
    MPI_Request request = MPI_REQUEST_NULL;
    std::int32_t from = 0;
    PeerMessage kind = PeerMessage::data;
    bool is_done = false;
  };
  MPI_Comm everyone = MPI_COMM_NULL;
  std::mutex mutex;  ///< over MPI and all that is here
  std::list<Sending> sending;
  std::list<Receiving> receiving;  ///< a rank that stops in the middle of a message blocks nobody else's
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool is_stopping = false;
};

MpiTransport::MpiTransport() : requests_(std::make_unique<Requests>()) {
  // OpenMPI 4 prints a paragraph when a rank ends the job (orterun(1), --quiet); ours has been said. The user may ask
  // for it with 0; other implementations do not read the variable.
  ::setenv("OMPI_MCA_orte_execute_quiet", "1", 0);
  int provided = MPI_THREAD_SINGLE;
  require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread", -1);
  if (provided < MPI_THREAD_SERIALIZED) throw EnvironmentError("MPI_Init_thread: this MPI allows one thread only");
  MPI_Comm& everyone = requests_->everyone;
  require(MPI_Comm_dup(MPI_COMM_WORLD, &everyone), "MPI_Comm_dup", -1);
  require(MPI_Comm_set_errhandler(everyone, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", -1);
  MPI_Comm_rank(everyone, &rank_);
  MPI_Comm_size(everyone, &size_);
  if (const auto place = launch_place(process_environment)) check_place(*place, "MPI", rank_, size_);
  ranks_on_host_ = count_ranks_on_host(everyone, rank_);
}

MpiTransport::~MpiTransport() { stop(); }

void MpiTransport::start(Receiver receiver) {
  receiver_ = std::move(receiver);
  thread_ = std::thread([this] {
    try {
      receive_until_stopped();
    } catch (const std::exception& error) {
      receiver_.on_end(error.what());
    }
  });
}

void MpiTransport::send(std::int32_t to, PeerMessage kind, std::vector<std::byte> data) {
  const std::lock_guard lock(requests_->mutex);
  Requests::Sending& sending = requests_->sending.emplace_back();
  sending.data = std::move(data);
  require(MPI_Isend(sending.data.data(), static_cast<int>(sending.data.size()), MPI_BYTE, to, static_cast<int>(kind),
                    requests_->everyone, &sending.request),
          "MPI_Isend", rank_);
}

bool MpiTransport::has_sent_all() {
  const std::lock_guard lock(requests_->mutex);
  return requests_->sending.empty();
}

void MpiTransport::enter_barrier() {
  const std::lock_guard lock(requests_->mutex);
  require(MPI_Ibarrier(requests_->everyone, &requests_->barrier), "MPI_Ibarrier", rank_);
}

bool MpiTransport::has_barrier_completed() {
  const std::lock_guard lock(requests_->mutex);
  int is_done = 0;
  require(MPI_Test(&requests_->barrier, &is_done, MPI_STATUS_IGNORE), "MPI_Test", rank_);
  return is_done != 0;
}

void MpiTransport::stop() {
  {
    const std::lock_guard lock(requests_->mutex);
    requests_->is_stopping = true;
  }
  if (thread_.joinable()) thread_.join();
}

void MpiTransport::finalize() {
  MPI_Comm_free(&requests_->everyone);
  MPI_Finalize();
  is_finalized_ = true;
}

void MpiTransport::receive_until_stopped() {
  while (true) {
    bool is_busy = false;
    {
      const std::lock_guard lock(requests_->mutex);
      if (requests_->is_stopping) return;
      is_busy = begin_receive();
      complete_sends();
    }
    is_busy = complete_receives() || is_busy;
    if (!is_busy) std::this_thread::sleep_for(idle_sleep);
  }
}

/// With the mutex held.
bool MpiTransport::begin_receive() {
  int is_there = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  require(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, requests_->everyone, &is_there, &message, &status), "MPI_Improbe",
          rank_);
  if (is_there == 0) return false;
  int size = 0;
  require(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count", rank_);
  Requests::Receiving& receiving = requests_->receiving.emplace_back();
  receiving.data.resize(static_cast<std::size_t>(size));
  receiving.from = status.MPI_SOURCE;
  receiving.kind = static_cast<PeerMessage>(status.MPI_TAG);
  require(MPI_Imrecv(receiving.data.data(), size, MPI_BYTE, &message, &receiving.request), "MPI_Imrecv", rank_);
  return true;
}

/// Messages of one rank are handed on as they were sent, whichever is here first; without the mutex, since whoever
/// takes them may send.
bool MpiTransport::complete_receives() {
  std::list<Requests::Receiving> complete;
  {
    const std::lock_guard lock(requests_->mutex);
    std::set<std::int32_t> incomplete;
    auto& all = requests_->receiving;
    for (auto next = all.begin(); next != all.end();) {
      const auto receiving = next++;
      int is_done = receiving->is_done ? 1 : 0;
      if (is_done == 0) require(MPI_Test(&receiving->request, &is_done, MPI_STATUS_IGNORE), "MPI_Test", rank_);
      receiving->is_done = is_done != 0;
      if (!receiving->is_done) incomplete.insert(receiving->from);
      if (!incomplete.contains(receiving->from)) complete.splice(complete.end(), all, receiving);
    }
  }
  for (const Requests::Receiving& one : complete) receiver_.on_message(one.from, one.kind, one.data);
  return !complete.empty();
}

/// With the mutex held.
void MpiTransport::complete_sends() {
  auto& all = requests_->sending;
  for (auto sending = all.begin(); sending != all.end();) {
    int is_done = 0;
    require(MPI_Test(&sending->request, &is_done, MPI_STATUS_IGNORE), "MPI_Test", rank_);
    sending = is_done != 0 ? all.erase(sending) : std::next(sending);
  }
}

}  // namespace plumbline
