#include "tests/cuda/fake_nccl.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tests/cuda/fake_nccl_files.h"
#include "tests/cuda/fake_nccl_parts.h"
#include "tests/cuda_on_cpu/streams.h"

namespace plumbline::nccl {

/// What all ranks of a communicator share.
struct Meeting {
  std::string id;
  int ranks = 0;
  int joined = 0;
  std::map<int, int> devices;              ///< by rank
  std::map<std::string, int> first_calls;  ///< ranks that have made theirs, by kind
};

struct CommHandle {
  std::shared_ptr<Meeting> meeting;
  int rank = 0;
  bool is_settling = false;  ///< the last call is in progress
  Result error = Result::success;
  std::shared_ptr<bool> is_aborted = std::make_shared<bool>(false);
  std::int64_t collectives = 0;
  std::set<std::string> connected;  ///< kinds of calls, and the one that is connecting
  std::set<std::string> connecting;
  std::map<std::pair<int, int>, std::int64_t> messages;  ///< by sender and receiver
  std::map<std::pair<int, int>, cudaStream_t> ways;      ///< the streams that messages of a group run on
};

namespace {

struct Request {
  std::string name;
  int nth = 1;
  Result result = Result::success;
  bool breaks = false;
};

struct Library {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Meeting>> meetings;
  std::vector<Request> requests;
  std::map<std::string, int> made;
  bool is_init_endless = false;
  std::int64_t ids = 0;
  int connections = 0;
  std::chrono::milliseconds message_length{0};
  std::string last_error;
  std::atomic<std::size_t> communicator_bytes = 0;
};
Library& library() {
  static auto* only = new Library;
  return *only;
}
using Lock = std::scoped_lock<std::mutex>;

struct OfThread {
  int depth = 0;
  std::vector<Operation> grouped;
};
OfThread& of_thread() {
  thread_local OfThread state;
  return state;
}

/// Under the library's lock.
const Request* requested(const std::string& name) {
  thread_local Request found;
  ++library().made[name];
  auto& requests = library().requests;
  for (auto one = requests.begin(); one != requests.end(); ++one)
    if (one->name == name && --one->nth == 0) {
      found = *one;
      requests.erase(one);
      library().last_error = "a test asked for it";
      return &found;
    }
  return nullptr;
}

Result failure_of(const std::string& name) {
  const Lock lock(library().mutex);
  const Request* const request = requested(name);
  return request == nullptr || request->breaks ? Result::success : request->result;
}

cuda_on_cpu::Entry entry_of(const Operation& o, const std::string& key, std::size_t parts, std::size_t own) {
  cuda_on_cpu::Entry entry;
  entry.kind = cuda_on_cpu::Entry::Kind::collective;
  entry.part.key = key;
  entry.part.parts = static_cast<int>(parts);
  entry.part.is_given_up = o.comm->is_aborted;
  const bool is_message = o.name == "ncclSend" || o.name == "ncclRecv";
  if (ranks_are_processes() && parts > 1) {
    const auto files = std::make_shared<FileParts>(o, key, parts, own);
    entry.part.parts = 1;
    entry.part.remote = files;
    entry.part.together = [files, is_message] {
      is_message ? run_message(files->read()) : run_collective(files->read());
    };
    return entry;
  }
  const auto all = arrivals(key, parts);
  entry.part.arrive = [o, all, own] { (*all)[own] = o; };
  const std::chrono::milliseconds length = library().message_length;
  entry.part.together = [all, is_message, length] {
    if (is_message) std::this_thread::sleep_for(length);
    is_message ? run_message(*all) : run_collective(*all);
  };
  return entry;
}

/// Of `from` for `to`: what `to` gets from here on waits for what `from` has.
void order(cudaStream_t from, cudaStream_t to) {
  const auto event = std::make_shared<CUevent_st>();
  event->recorded = 1;
  cuda_on_cpu::Entry record;
  record.kind = cuda_on_cpu::Entry::Kind::record;
  record.event = event;
  record.version = 1;
  cuda_on_cpu::streams().push(from, std::move(record));
  cuda_on_cpu::Entry wait;
  wait.kind = cuda_on_cpu::Entry::Kind::wait;
  wait.event = event;
  wait.version = 1;
  cuda_on_cpu::streams().push(to, std::move(wait));
}

void enqueue_message(const Operation& o, bool is_grouped) {
  const bool sends = o.name == "ncclSend";
  const std::pair<int, int> way{sends ? o.comm->rank : o.root, sends ? o.root : o.comm->rank};
  const std::string key = o.comm->meeting->id + ":" + std::to_string(way.first) + ">" + std::to_string(way.second) +
                          ":" + std::to_string(o.comm->messages[way]++);
  cudaStream_t stream = o.stream;
  if (is_grouped) {
    cudaStream_t& own = o.comm->ways[way];
    if (own == nullptr) own = cuda_on_cpu::streams().create(cudaStreamNonBlocking);
    stream = own;
    order(o.stream, stream);
  }
  cuda_on_cpu::streams().push(stream, entry_of(o, key, 2, sends ? 0 : 1));
}

void enqueue(const std::vector<Operation>& operations) {
  const cuda_on_cpu::Streams::Lock lock(cuda_on_cpu::streams().mutex);
  for (const Operation& o : operations) {
    if (o.name == "ncclSend" || o.name == "ncclRecv") {
      enqueue_message(o, operations.size() > 1);
      continue;
    }
    const std::string key = o.comm->meeting->id + ":" + std::to_string(o.comm->collectives++);
    cuda_on_cpu::streams().push(o.stream, entry_of(o, key, static_cast<std::size_t>(o.comm->meeting->ranks),
                                                   static_cast<std::size_t>(o.comm->rank)));
  }
  for (const Operation& o : operations)
    if (operations.size() > 1)
      for (const auto& [way, stream] : o.comm->ways) order(stream, o.stream);
}

Result settling(Comm comm) {
  const Lock lock(library().mutex);
  comm->is_settling = true;
  return Result::in_progress;
}

/// All of a kind connect together; a message, its two ranks.
void connect(const Operation& o) {
  const Lock lock(library().mutex);
  std::string kind = o.name;
  if (kind == "ncclSend") kind = std::to_string(o.comm->rank) + " to " + std::to_string(o.root);
  if (kind == "ncclRecv") kind = std::to_string(o.root) + " to " + std::to_string(o.comm->rank);
  if (o.comm->meeting->ranks == 1 || ranks_are_processes() || !o.comm->connected.insert(kind).second) return;
  ++library().connections;
  ++o.comm->meeting->first_calls[kind];
  o.comm->connecting.insert(kind);
}

/// Under the library's lock.
bool is_connecting(const CommHandle& comm) {
  return std::any_of(comm.connecting.begin(), comm.connecting.end(), [&](const std::string& kind) {
    const bool is_message = kind.rfind("nccl", 0) != 0;
    return comm.meeting->first_calls[kind] < (is_message ? 2 : comm.meeting->ranks);
  });
}

Result submit(Operation o) {
  {
    const Lock lock(library().mutex);
    if (const Request* const request = requested(o.name)) {
      if (!request->breaks) return request->result;
      o.comm->error = request->result;
      return Result::success;
    }
    if (o.comm->is_settling) {
      library().last_error = "a call while another one is in progress";
      return Result::invalid_usage;
    }
  }
  connect(o);
  if (of_thread().depth > 0) {
    of_thread().grouped.push_back(std::move(o));
    return Result::success;
  }
  enqueue({o});
  return settling(o.comm);
}

Result get_version(int* version) {
  *version = 22809;
  return failure_of("ncclGetVersion");
}

const char* last_error(Comm) {
  thread_local std::string kept;
  const Lock lock(library().mutex);
  kept = library().last_error;
  return kept.c_str();
}

Result get_unique_id(UniqueId* id) {
  const Result failed = failure_of("ncclGetUniqueId");
  const Lock lock(library().mutex);
  const std::int64_t number = library().ids++;
  const std::string text = ranks_are_processes() ? id_of_process(number) : "id " + std::to_string(number);
  std::memcpy(id->internal, text.c_str(), text.size() + 1);
  return failed;
}

Result init(Comm* comm, int ranks, UniqueId id, int rank, Config* config) {
  const Result failed = failure_of("ncclCommInitRankConfig");
  if (failed != Result::success) return failed;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return Result::unhandled_cuda_error;
  cuda_on_cpu::take_memory(library().communicator_bytes);
  const Lock lock(library().mutex);
  if (config->magic != 0xcafebeef || config->blocking != 0 || rank < 0 || rank >= ranks)
    return Result::invalid_argument;
  auto& meeting = library().meetings[id.internal];
  if (meeting == nullptr) meeting = std::make_shared<Meeting>(Meeting{id.internal, ranks, 0, {}, {}});
  for (const auto& [other, of_other] : meeting->devices)
    if (of_other == device) {
      library().last_error = "Duplicate GPU detected : rank " + std::to_string(other) + " and rank " +
                             std::to_string(rank) + " both on CUDA device " + std::to_string(device);
      return Result::invalid_usage;
    }
  if (meeting->ranks != ranks || !meeting->devices.emplace(rank, device).second) return Result::invalid_argument;
  ++meeting->joined;
  if (ranks_are_processes()) join(meeting->id, rank);
  *comm = new CommHandle();
  (*comm)->meeting = meeting;
  (*comm)->rank = rank;
  return Result::in_progress;
}

Result get_async_error(Comm comm, Result* error) {
  const Result failed = failure_of("ncclCommGetAsyncError");
  if (failed != Result::success) return failed;
  const Lock lock(library().mutex);
  *error = comm->error;
  if (comm->error != Result::success) return Result::success;
  const bool is_stuck = library().is_init_endless && comm->meeting->ranks > 1;
  const Meeting& meeting = *comm->meeting;
  const bool is_complete =
      ranks_are_processes() ? have_joined(meeting.id, meeting.ranks) : meeting.joined == meeting.ranks;
  if (!is_complete || is_stuck || std::exchange(comm->is_settling, false) || is_connecting(*comm))
    *error = Result::in_progress;
  else
    comm->connecting.clear();
  return Result::success;
}

Result finalize(Comm) { return failure_of("ncclCommFinalize"); }
Result destroy(Comm comm) {
  const Result failed = failure_of("ncclCommDestroy");
  if (failed == Result::success) delete comm;
  return failed;
}
/// What its streams have left goes on without it; the handle stays, for threads that still poll it.
Result abort(Comm comm) {
  const cuda_on_cpu::Streams::Lock lock(cuda_on_cpu::streams().mutex);
  *comm->is_aborted = true;
  cuda_on_cpu::streams().notice();
  return failure_of("ncclCommAbort");
}

Result group_start() {
  ++of_thread().depth;
  return failure_of("ncclGroupStart");
}
Result group_end() {
  const Result failed = failure_of("ncclGroupEnd");
  OfThread& state = of_thread();
  if (--state.depth > 0) return failed;
  const std::vector<Operation> grouped = std::exchange(state.grouped, {});
  if (failed != Result::success || grouped.empty()) return failed;
  enqueue(grouped);
  return settling(grouped.front().comm);
}

Result all_reduce(const void* from, void* to, std::size_t n, DataType type, RedOp op, Comm comm, cudaStream_t stream) {
  return submit({"ncclAllReduce", from, to, n, type, op, -1, comm, stream});
}
Result reduce_scatter(const void* from, void* to, std::size_t n, DataType type, RedOp op, Comm comm,
                      cudaStream_t stream) {
  return submit({"ncclReduceScatter", from, to, n, type, op, -1, comm, stream});
}
Result all_gather(const void* from, void* to, std::size_t n, DataType type, Comm comm, cudaStream_t stream) {
  return submit({"ncclAllGather", from, to, n, type, RedOp::sum, -1, comm, stream});
}
Result reduce(const void* from, void* to, std::size_t n, DataType type, RedOp op, int root, Comm comm,
              cudaStream_t stream) {
  return submit({"ncclReduce", from, to, n, type, op, root, comm, stream});
}
Result broadcast(const void* from, void* to, std::size_t n, DataType type, int root, Comm comm, cudaStream_t stream) {
  return submit({"ncclBroadcast", from, to, n, type, RedOp::sum, root, comm, stream});
}
Result send(const void* from, std::size_t n, DataType type, int peer, Comm comm, cudaStream_t stream) {
  return submit({"ncclSend", from, nullptr, n, type, RedOp::sum, peer, comm, stream});
}
Result receive(void* to, std::size_t n, DataType type, int peer, Comm comm, cudaStream_t stream) {
  return submit({"ncclRecv", nullptr, to, n, type, RedOp::sum, peer, comm, stream});
}

}  // namespace

const Api& api() {
  static const Api table{get_version,    error_string, last_error, get_unique_id, init,      get_async_error,
                         finalize,       destroy,      abort,      group_start,   group_end, all_reduce,
                         reduce_scatter, all_gather,   reduce,     broadcast,     send,      receive};
  return table;
}

}  // namespace plumbline::nccl

namespace plumbline::fake_nccl {

void reset() {
  const nccl::Lock lock(nccl::library().mutex);
  nccl::library().requests.clear();
  nccl::library().made.clear();
  nccl::library().meetings.clear();
  nccl::library().is_init_endless = false;
  nccl::library().connections = 0;
  nccl::library().message_length = std::chrono::milliseconds(0);
  nccl::library().last_error.clear();
  nccl::library().communicator_bytes = 0;
}

void set_communicator_bytes(std::size_t bytes) { nccl::library().communicator_bytes = bytes; }

void fail_call(const std::string& name, int nth, nccl::Result result) {
  const nccl::Lock lock(nccl::library().mutex);
  nccl::library().requests.push_back({name, nth, result, false});
}

void break_call(const std::string& name, int nth, nccl::Result result) {
  const nccl::Lock lock(nccl::library().mutex);
  nccl::library().requests.push_back({name, nth, result, true});
}

void never_complete_init() {
  const nccl::Lock lock(nccl::library().mutex);
  nccl::library().is_init_endless = true;
}

void slow_messages(std::chrono::milliseconds length) {
  const nccl::Lock lock(nccl::library().mutex);
  nccl::library().message_length = length;
}

int connections() {
  const nccl::Lock lock(nccl::library().mutex);
  return nccl::library().connections;
}

int calls_made(const std::string& name) {
  const nccl::Lock lock(nccl::library().mutex);
  const auto found = nccl::library().made.find(name);
  return found == nccl::library().made.end() ? 0 : found->second;
}

}  // namespace plumbline::fake_nccl
