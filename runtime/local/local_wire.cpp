#include "runtime/local/local_wire.h"

#include <algorithm>

#include "runtime/communication/rank_failure.h"

namespace plumbline {
namespace {

constexpr const char* no_call = "is in no call";

}  // namespace

LocalHub::LocalHub(std::int32_t ranks, std::chrono::milliseconds deadline)
    : deadline_(deadline),
      mailboxes_(static_cast<std::size_t>(ranks)),
      status_(static_cast<std::size_t>(ranks), no_call),
      ended_(static_cast<std::size_t>(ranks), false) {}

void LocalHub::report_status(std::int32_t rank, std::string text) {
  const std::lock_guard lock(mutex_);
  status_[static_cast<std::size_t>(rank)] = std::move(text);
}

std::string LocalHub::elsewhere(std::int32_t rank) {
  constexpr std::size_t most = 8;  // a message is one line
  const std::lock_guard lock(mutex_);
  std::string text;
  std::size_t named = 0;
  for (std::size_t r = 0; r < status_.size() && named < most; ++r) {
    if (status_[r] == status_[static_cast<std::size_t>(rank)]) continue;
    text += (named++ == 0 ? "" : "; ") + ("rank " + std::to_string(r) + " " + status_[r]);
  }
  return text;
}

void LocalHub::end(std::int32_t rank, std::exception_ptr failure) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    ended_[static_cast<std::size_t>(rank)] = true;
    status_[static_cast<std::size_t>(rank)] = std::string(failure ? "has failed" : "has ended");
    is_first = failure && !failure_;
    if (is_first) {
      failure_ = failure;
      failed_rank_ = rank;
    }
  }
  if (is_first)
    for (Mailbox& box : mailboxes_) box.fail(failure_text(rank, failure));
  changed_.notify_all();
}

void LocalHub::wait(std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  const auto all_ended = [&] { return std::all_of(ended_.begin(), ended_.end(), [](bool ended) { return ended; }); };
  changed_.wait(lock, [&] { return failure_ || all_ended(); });
  changed_.wait_for(lock, grace, all_ended);
}

bool LocalHub::has_ended(std::int32_t rank) {
  const std::lock_guard lock(mutex_);
  return ended_[static_cast<std::size_t>(rank)];
}

void LocalHub::rethrow_first(const std::string& addition) {
  std::unique_lock lock(mutex_);
  if (!failure_) return;
  const std::exception_ptr failure = failure_;
  lock.unlock();
  rethrow_of_rank(failed_rank_, failure, addition);
}

void LocalWire::post(std::int32_t to, std::uint64_t group, std::int32_t tag, Message message) {
  hub_->mailbox(to).deposit({group, rank_, tag}, std::move(message));
}

Message LocalWire::take(const MessageKey& key, const CallSite& site) {
  return take_or_explain(hub_->mailbox(rank_), key, site, rank_, hub_->deadline(),
                         [this] { return hub_->elsewhere(rank_); });
}

void LocalWire::enter(const CallSite& site) { hub_->report_status(rank_, "is in " + to_text(site)); }
void LocalWire::leave() { hub_->report_status(rank_, no_call); }

}  // namespace plumbline
