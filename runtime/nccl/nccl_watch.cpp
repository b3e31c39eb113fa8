#include "runtime/nccl/nccl_watch.h"

namespace plumbline {

NcclWatch::NcclWatch(std::int32_t rank, Rendezvous& rendezvous, const NcclOptions& options)
    : rank_(rank), rendezvous_(rendezvous), options_(options) {
  require(cudaGetDevice(&device_), "cudaGetDevice");
  thread_ = std::thread([this] { look_until_over(); });
}

NcclWatch::~NcclWatch() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  over_.notify_all();
  thread_.join();
}

void NcclWatch::add(const std::shared_ptr<NcclComm>& comm) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(comms_, [](const auto& one) { return one.expired(); });
  comms_.push_back(comm);
}

void NcclWatch::given(const CallSite& site, cudaStream_t stream) {
  const std::scoped_lock lock(mutex_);
  if (unused_.empty()) unused_.emplace_back();
  Given& one = unused_.front();
  one.done.record(stream);
  one.site = site;
  one.action = action_;
  one.when = Clock::now();
  given_.splice(given_.end(), unused_, unused_.begin());
}

void NcclWatch::fail(const std::string& text) {
  std::vector<std::shared_ptr<NcclComm>> open;
  {
    const std::scoped_lock lock(mutex_);
    if (failure_) return;
    failure_ = text;
    for (const auto& one : comms_)
      if (auto comm = one.lock()) open.push_back(std::move(comm));
  }
  for (const auto& comm : open) comm->abort();
}

void NcclWatch::require_alive() {
  const std::scoped_lock lock(mutex_);
  if (failure_) throw CommunicationError(*failure_);
}

std::optional<std::string> NcclWatch::overdue() {
  for (auto one = given_.begin(); one != given_.end();) {
    const auto next = std::next(one);
    bool is_done = false;
    try {
      is_done = one->done.is_passed();
    } catch (const CudaError&) {
      return std::nullopt;  // whoever waits for the device is told by it
    }
    if (is_done)
      unused_.splice(unused_.end(), given_, one);
    else if (Clock::now() - one->when > options_.deadline)
      return "rank " + std::to_string(rank_) + " waited " + duration_text(options_.deadline) + " in " +
             to_text(one->site) +
             (one->action >= 0 ? ", which action " + std::to_string(one->action) + " of its program gave out" : "");
    one = next;
  }
  return std::nullopt;
}

std::optional<std::string> NcclWatch::problem() {
  std::vector<std::shared_ptr<NcclComm>> open;
  {
    const std::scoped_lock lock(mutex_);
    if (failure_) return std::nullopt;
    if (auto late = overdue()) return late;
    for (const auto& one : comms_)
      if (auto comm = one.lock()) open.push_back(std::move(comm));
  }
  for (const auto& comm : open)
    if (const auto error = comm->asynchronous_error()) return error;
  try {
    if (const auto failed = rendezvous_.trouble()) return "rank " + std::to_string(rank_) + " was stopped: " + *failed;
  } catch (const EnvironmentError&) {
    return std::nullopt;  // rank 0 has left: the run is over
  }
  return std::nullopt;
}

void NcclWatch::look_until_over() {
  (void)cudaSetDevice(device_);
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, options_.interval, [&] { return is_over_; })) {
    lock.unlock();
    if (const auto found = problem()) fail(*found);
    lock.lock();
  }
}

}  // namespace plumbline
