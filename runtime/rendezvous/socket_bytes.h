#pragma once
/// \file socket_bytes.h: a socket that is closed at its end, and whole messages over it.
///
/// Checked against: tests/runtime/rendezvous/rendezvous_threads_test.cpp.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "runtime/rendezvous/rendezvous.h"

namespace plumbline {

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(); }
  /// In place of what it held.
  void hold(int descriptor) {
    close();
    descriptor_ = descriptor;
  }
  /// Somebody else closes it.
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 private:
  void close() const {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor_;
};

/// What is neither sent nor received in so long belongs to nobody who works.
inline constexpr int most_wait_ms = 5'000;
/// A key or value; longer ones are none of ours.
inline constexpr std::uint32_t longest = 1U << 16;

[[nodiscard]] inline bool send_all(int socket, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data = data.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

[[nodiscard]] inline bool receive_all(int socket, std::span<std::byte> data) {
  while (!data.empty()) {
    pollfd ready{socket, POLLIN, 0};
    if (::poll(&ready, 1, most_wait_ms) <= 0) return false;
    const ssize_t received = ::recv(socket, data.data(), data.size(), 0);
    if (received <= 0) return false;
    data = data.subspan(static_cast<std::size_t>(received));
  }
  return true;
}

/// With its length in front, most significant byte first.
inline void append_block(Value& message, std::span<const std::byte> block) {
  for (int shift = 24; shift >= 0; shift -= 8) message.push_back(static_cast<std::byte>(block.size() >> shift & 0xff));
  message.insert(message.end(), block.begin(), block.end());
}

[[nodiscard]] inline std::optional<Value> receive_block(int socket) {
  std::byte head[4];
  if (!receive_all(socket, head)) return std::nullopt;
  std::uint32_t size = 0;
  for (const std::byte one : head) size = size << 8 | std::to_integer<std::uint32_t>(one);
  if (size > longest) return std::nullopt;
  Value block(size);
  if (!receive_all(socket, block)) return std::nullopt;
  return block;
}

}  // namespace plumbline
