#include "runtime/communication/mailbox.h"

#include "core/base/errors.h"

namespace plumbline {

void Mailbox::deposit(const MessageKey& key, Message message) {
  {
    const std::lock_guard lock(mutex_);
    waiting_[key].push_back(std::move(message));
  }
  changed_.notify_all();  // threads of one rank may wait for different keys
}

void Mailbox::fail(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = text;
  }
  changed_.notify_all();
}

std::optional<std::string> Mailbox::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::optional<Message> Mailbox::take(const MessageKey& key, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto is_ready = [&] { return failure_ || waiting_.contains(key); };
  if (!changed_.wait_until(lock, deadline, is_ready)) return std::nullopt;
  if (failure_) throw EnvironmentError(*failure_);
  const auto found = waiting_.find(key);
  Message message = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) waiting_.erase(found);  // tags are many, and most are used once
  return message;
}

}  // namespace plumbline
