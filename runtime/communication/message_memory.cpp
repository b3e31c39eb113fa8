#include "runtime/communication/message_memory.h"

#include <cstring>

#include "core/base/errors.h"
#include "runtime/communication/reduce.h"

namespace plumbline {
namespace {

class HostMessages : public MessageMemory {
 public:
  void fill(Message& message, std::span<const std::byte> chunk) override {
    message.payload.assign(chunk.begin(), chunk.end());
  }
  [[nodiscard]] std::span<const std::byte> content(const Message& message) override {
    check(message.on_device == nullptr, "what a device sent is received by a device");
    return message.payload;
  }
  void done(const Message&) override {}
  /// memmove that allows empty ranges, whose pointers may be null.
  void copy(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (!from.empty() && from.data() != to.data()) std::memmove(to.data(), from.data(), from.size());
  }
  void reduce(std::span<const std::span<const std::byte>> contributions, std::span<std::byte> result,
              ElementFormat format, Reduction reduction) override {
    reduce_in_order(contributions, result, format, reduction);
  }
};

/// Null: the host's.
MessageMemory*& of_thread() {
  thread_local MessageMemory* memory = nullptr;
  return memory;
}

}  // namespace

MessageMemory& message_memory() {
  static HostMessages host;
  return of_thread() == nullptr ? host : *of_thread();
}

MessageMemoryScope::MessageMemoryScope(MessageMemory& memory) : before_(of_thread()) { of_thread() = &memory; }
MessageMemoryScope::~MessageMemoryScope() { of_thread() = before_; }

}  // namespace plumbline
