#include "runtime/rendezvous/rendezvous.h"

#include <thread>

#include "runtime/communication/wire.h"

namespace plumbline {
namespace {

constexpr const char* failure_key = "failure";
constexpr std::chrono::milliseconds between_questions(2);

}  // namespace

Value Rendezvous::wait_for(const std::string& key, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  for (;;) {
    if (auto value = find(key)) return std::move(*value);
    if (const auto failed = trouble()) throw CommunicationError("stopped at the rendezvous: " + *failed);
    if (Clock::now() > end)
      throw CommunicationError("waited " + duration_text(deadline) + " at the rendezvous for '" + key +
                               "', which another rank was to publish");
    std::this_thread::sleep_for(between_questions);
  }
}

void Rendezvous::report_failure(const std::string& text) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  try {
    publish(failure_key, Value(bytes, bytes + text.size()));
  } catch (const EnvironmentError&) {
    return;  // another rank was first, or the place is gone with the rank that held it
  }
}

std::optional<std::string> Rendezvous::failure() {
  const auto value = find(failure_key);
  if (!value) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(value->data()), value->size());
}

/// What a rank reports before it ends is there once its end is seen.
std::optional<std::string> Rendezvous::trouble() {
  std::optional<std::int32_t> gone = lost();
  try {
    if (auto failed = failure()) return failed;
  } catch (const EnvironmentError&) {
    if (!gone) gone = lost();
    if (!gone) throw;
  }
  if (!gone) return std::nullopt;
  return "the process of rank " + std::to_string(*gone) +
         " has ended without saying why: it was killed, or its computer has stopped";
}

void LocalRendezvous::publish(const std::string& key, const Value& value) {
  const std::scoped_lock lock(mutex_);
  if (!values_.emplace(key, value).second) throw EnvironmentError("rendezvous: '" + key + "' was published before");
}

std::optional<Value> LocalRendezvous::find(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace plumbline
