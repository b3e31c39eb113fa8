#pragma once
/// \file mailbox.h: messages that have arrived at one rank and wait to be taken, by sender, group and tag.
///
/// Model: first in, first out for each key. A failure wakes whoever waits. Safe for any number of threads; nobody
/// spins. Not modelled: a limit on what waits here. Checked against:
/// tests/runtime/communication/local_communicator_threads_test.cpp.

#include <chrono>
#include <compare>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/communication/communicator.h"

namespace plumbline {

using Clock = std::chrono::steady_clock;

struct MessageKey {
  std::uint64_t group = 0;  ///< see group_key
  std::int32_t from = 0;    ///< rank in the world
  std::int32_t tag = 0;
  auto operator<=>(const MessageKey&) const = default;
};

/// Bytes in a device's memory that are on their way (message_memory.h).
class DeviceBytes {
 public:
  DeviceBytes() = default;
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  virtual ~DeviceBytes() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
};

/// `sequence` counts the collective calls of the sender in the group, so that mismatched calls are noticed.
struct Message {
  Collective kind = Collective::barrier;
  std::int64_t sequence = 0;
  std::vector<std::byte> payload;
  std::shared_ptr<DeviceBytes> on_device = nullptr;  ///< in place of a payload

  [[nodiscard]] std::size_t size() const { return on_device ? on_device->size() : payload.size(); }
};

class Mailbox {
 public:
  void deposit(const MessageKey& key, Message message);
  /// Every waiting and later `take` throws EnvironmentError with this text. The first failure stays.
  void fail(const std::string& text);
  [[nodiscard]] std::optional<std::string> failure();

  /// The next message, or none when `deadline` passed.
  [[nodiscard]] std::optional<Message> take(const MessageKey& key, Clock::time_point deadline);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<MessageKey, std::deque<Message>> waiting_;
  std::optional<std::string> failure_;
};

}  // namespace plumbline
