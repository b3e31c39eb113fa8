#include "runtime/nccl/nccl_comm.h"

#include <thread>

#include "runtime/communication/wire.h"

namespace plumbline {
namespace {

using nccl::Result;
using Lock = std::unique_lock<std::mutex>;

constexpr std::chrono::microseconds between_polls(100);

}  // namespace

NcclComm::NcclComm(const nccl::UniqueId& id, int ranks, int rank, Names names, std::chrono::milliseconds deadline,
                   std::function<void()> require_alive)
    : api_(nccl::api()), names_(std::move(names)), deadline_(deadline), require_alive_(std::move(require_alive)) {
  nccl::Config config;
  config.blocking = 0;
  Lock lock(mutex_);
  const Result begun = api_.comm_init_rank_config(&comm_, ranks, id, rank, &config);
  try {
    settle("ncclCommInitRankConfig", begun, lock);
  } catch (const CommunicationError&) {
    if (!lock.owns_lock()) lock.lock();
    if (comm_ != nullptr && !is_aborted_) (void)api_.comm_abort(comm_);
    throw;
  }
}

NcclComm::~NcclComm() {
  Lock lock(mutex_);
  if (is_aborted_ || comm_ == nullptr) return;
  try {
    settle("ncclCommFinalize", api_.comm_finalize(comm_), lock);
  } catch (const CommunicationError&) {
    if (!is_aborted_) (void)api_.comm_abort(comm_);
    return;
  }
  if (!is_aborted_) (void)api_.comm_destroy(comm_);
}

void NcclComm::fail(const std::string& text) const {
  throw CommunicationError(names_.who + ": " + text + ", of " + names_.purpose);
}

void NcclComm::require_open() const {
  if (is_aborted_) fail("NCCL's communicator was ended");
}

void NcclComm::settle(const char* name, Result result, Lock& lock) {
  const auto end = Clock::now() + deadline_;
  while (result == Result::in_progress) {
    if (Clock::now() > end) fail(std::string(name) + ": is not done after " + duration_text(deadline_));
    lock.unlock();
    std::this_thread::sleep_for(between_polls);
    require_alive_();
    lock.lock();
    require_open();
    const Result asked = api_.comm_get_async_error(comm_, &result);
    if (asked != Result::success)
      fail(nccl::failure_text(api_, std::string("ncclCommGetAsyncError behind ") + name, asked, comm_));
  }
  if (result != Result::success) fail(nccl::failure_text(api_, name, result, comm_));
}

void NcclComm::call(const char* name, const std::function<Result(nccl::Comm)>& enqueue) {
  Lock lock(mutex_);
  require_open();
  settle(name, enqueue(comm_), lock);
}

void NcclComm::group(const char* name, const std::function<void(const NcclComm&)>& enqueue) {
  Lock lock(mutex_);
  require_open();
  inside("ncclGroupStart", api_.group_start());
  try {
    enqueue(*this);
  } catch (...) {
    (void)api_.group_end();  // a group that stays open would take in later calls
    throw;
  }
  settle(name, api_.group_end(), lock);
}

void NcclComm::inside(const char* name, Result result) const {
  if (result != Result::success && result != Result::in_progress) fail(nccl::failure_text(api_, name, result, comm_));
}

std::optional<std::string> NcclComm::asynchronous_error() {
  const Lock lock(mutex_);
  if (is_aborted_ || comm_ == nullptr) return std::nullopt;
  Result result = Result::success;
  const Result asked = api_.comm_get_async_error(comm_, &result);
  if (asked != Result::success)
    return names_.who + ": " + nccl::failure_text(api_, "ncclCommGetAsyncError", asked, comm_);
  if (result == Result::success || result == Result::in_progress) return std::nullopt;
  return names_.who + ": " + nccl::failure_text(api_, "NCCL", result, comm_) + ", of " + names_.purpose;
}

void NcclComm::abort() noexcept {
  const Lock lock(mutex_);
  if (is_aborted_ || comm_ == nullptr) return;
  is_aborted_ = true;
  (void)api_.comm_abort(comm_);
}

}  // namespace plumbline
