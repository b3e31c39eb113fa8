#pragma once
/// \file fragments.h: messages cut into pieces that MPI can count, and put together again.
///
/// Model: each fragment begins with a header that says how many bytes of the message are still to come. Fragments of
/// one sender arrive in order. Source: MPI 3.1, section 3.2 (counts are 32-bit integers).
/// Checked against: tests/runtime/mpi/fragments_test.cpp, tests/runtime/mpi/mpi_test.py.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "runtime/communication/mailbox.h"

namespace plumbline {

/// In front of each fragment. All ranks of a job run the same binary, so its bytes travel as they are.
struct FragmentHeader {
  std::uint64_t group = 0;
  std::int64_t sequence = 0;
  std::int64_t bytes_to_come = 0;  ///< in later fragments
  std::int32_t tag = 0;
  std::int32_t kind = 0;
  std::int32_t action = -1;  ///< of the program, at work in the sender
  std::int32_t unused = 0;   ///< no byte is left undefined
};

/// Hands the fragments of a message to `send`, in order; at most `largest` bytes of the payload in each. `header`
/// names the group, the tag and the sender's action.
void send_fragments(const Message& message, FragmentHeader header, std::int64_t largest,
                    const std::function<void(std::vector<std::byte>)>& send);

/// Throws InternalError when a fragment is shorter than its header.
[[nodiscard]] FragmentHeader fragment_header(std::span<const std::byte> fragment);

/// Messages of which fragments are missing.
class FragmentJoiner {
 public:
  /// The message that this fragment completes, if it does.
  [[nodiscard]] std::optional<Message> add(const MessageKey& key, std::span<const std::byte> fragment);

 private:
  std::map<MessageKey, std::vector<std::byte>> begun_;
};

}  // namespace plumbline
