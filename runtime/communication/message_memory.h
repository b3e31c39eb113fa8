#pragma once
/// \file message_memory.h: where the bytes lie that a communicator's call is about, and what copies and sums them.
///
/// Answers: the host's memory, or that of the device in whose lane's work the call is made. Model: a call is about the
/// host's memory, unless a device says on this thread that its own is meant. What a message holds is then a copy in the
/// device's memory, made, read and given back in the order of lanes; the host waits for no device.
/// Not modelled: messages in device memory between processes. Checked against: tests/cuda/device_messages_test.cpp,
/// tests/runtime/communication/local_communicator_threads_test.cpp (the host's).

#include <span>

#include "runtime/communication/mailbox.h"

namespace plumbline {

class MessageMemory {
 public:
  MessageMemory() = default;
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;
  virtual ~MessageMemory() = default;

  /// Makes a copy of `chunk` the message's content.
  virtual void fill(Message& message, std::span<const std::byte> chunk) = 0;
  /// The content of a message that has arrived, for the calls below; `done` when none of them follows.
  [[nodiscard]] virtual std::span<const std::byte> content(const Message& message) = 0;
  virtual void done(const Message& message) = 0;
  /// Ranges may be empty, and the same.
  virtual void copy(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  /// As reduce_in_order (reduce.h).
  virtual void reduce(std::span<const std::span<const std::byte>> contributions, std::span<std::byte> result,
                      ElementFormat format, Reduction reduction) = 0;
};

/// What calls of this thread are about.
[[nodiscard]] MessageMemory& message_memory();

/// While it lives, calls of this thread are about `memory`.
class MessageMemoryScope {
 public:
  explicit MessageMemoryScope(MessageMemory& memory);
  MessageMemoryScope(const MessageMemoryScope&) = delete;
  MessageMemoryScope& operator=(const MessageMemoryScope&) = delete;
  ~MessageMemoryScope();

 private:
  MessageMemory* before_;
};

}  // namespace plumbline
