#include "runtime/mpi/fragments.h"

#include <algorithm>
#include <cstring>

#include "core/base/errors.h"

namespace plumbline {

void send_fragments(const Message& message, FragmentHeader header, std::int64_t largest,
                    const std::function<void(std::vector<std::byte>)>& send) {
  header.sequence = message.sequence;
  header.kind = static_cast<std::int32_t>(message.kind);
  header.bytes_to_come = static_cast<std::int64_t>(message.payload.size());
  auto next = message.payload.begin();
  do {
    const std::int64_t count = std::min(header.bytes_to_come, largest);
    header.bytes_to_come -= count;
    std::vector<std::byte> fragment(sizeof header + static_cast<std::size_t>(count));
    std::memcpy(fragment.data(), &header, sizeof header);
    std::copy_n(next, count, fragment.begin() + sizeof header);
    send(std::move(fragment));
    next += count;
  } while (header.bytes_to_come > 0);
}

FragmentHeader fragment_header(std::span<const std::byte> fragment) {
  FragmentHeader header;
  check(fragment.size() >= sizeof header, "every fragment begins with its header");
  std::memcpy(&header, fragment.data(), sizeof header);
  return header;
}

std::optional<Message> FragmentJoiner::add(const MessageKey& key, std::span<const std::byte> fragment) {
  const FragmentHeader header = fragment_header(fragment);
  std::vector<std::byte>& payload = begun_[key];
  const auto content = fragment.subspan(sizeof header);
  payload.insert(payload.end(), content.begin(), content.end());
  if (header.bytes_to_come > 0) return std::nullopt;
  Message message{static_cast<Collective>(header.kind), header.sequence, std::move(payload)};
  begun_.erase(key);
  return message;
}

}  // namespace plumbline
