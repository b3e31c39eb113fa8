#pragma once
/// \file peer_channel.h: messages between the processes of a job, as the parts of a session send them.
///
/// Checked against: tests/runtime/mpi/wait_graph_test.cpp (in memory), tests/runtime/mpi/mpi_test.py (MPI).

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace plumbline {

/// What a rank sleeps where nothing has arrived.
inline constexpr std::chrono::microseconds idle_sleep(50);

enum class PeerMessage : std::uint8_t {
  data,           ///< a fragment of what a communicator sends
  failure,        ///< a rank has failed
  status,         ///< the answer to the rank that failed: the action at work
  wait_question,  ///< for which rank does the receiver wait?
  wait_answer
};

class PeerChannel {
 public:
  PeerChannel() = default;
  PeerChannel(const PeerChannel&) = delete;
  PeerChannel& operator=(const PeerChannel&) = delete;
  virtual ~PeerChannel() = default;

  [[nodiscard]] virtual std::int32_t rank() const = 0;
  [[nodiscard]] virtual std::int32_t size() const = 0;
  /// Returns at once. Messages to one rank arrive in order.
  virtual void send(std::int32_t to, PeerMessage kind, std::vector<std::byte> data) = 0;
  /// Whether everything sent so far has left.
  [[nodiscard]] virtual bool has_sent_all() = 0;
};

/// "rank 2".
[[nodiscard]] inline std::string rank_name(std::int32_t rank) { return "rank " + std::to_string(rank); }

/// All ranks of a job run the same binary, so numbers travel as they are.
[[nodiscard]] inline std::vector<std::byte> bytes_of(std::int32_t number) {
  std::vector<std::byte> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}
/// The number that `data` begins with.
[[nodiscard]] inline std::int32_t leading_number(std::span<const std::byte> data) {
  std::int32_t number = 0;
  check(data.size() >= sizeof number, "a message between ranks begins with a number");
  std::memcpy(&number, data.data(), sizeof number);
  return number;
}

}  // namespace plumbline
