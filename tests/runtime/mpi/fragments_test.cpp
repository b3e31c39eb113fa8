#include "runtime/mpi/fragments.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Message message_of(std::size_t bytes) {
  Message message{Collective::all_reduce, 7, std::vector<std::byte>(bytes)};
  for (std::size_t i = 0; i < bytes; ++i) message.payload[i] = static_cast<std::byte>(i * 31 % 251);
  return message;
}

std::vector<std::vector<std::byte>> fragments_of(const Message& message, std::int64_t largest) {
  std::vector<std::vector<std::byte>> all;
  send_fragments(message, {.group = 5, .tag = 2, .action = 11}, largest,
                 [&](std::vector<std::byte> fragment) { all.push_back(std::move(fragment)); });
  return all;
}

TEST_CASE("a message is whole again when its last fragment has come") {
  // 20 bytes in fragments of 7: 7 + 7 + 6; an empty message is one fragment.
  const MessageKey key{5, 1, 2};
  for (const auto& [bytes, count] : {std::pair<std::size_t, std::size_t>{20, 3}, {21, 3}, {7, 1}, {0, 1}}) {
    const Message sent = message_of(bytes);
    const auto fragments = fragments_of(sent, 7);
    REQUIRE(fragments.size() == count);
    FragmentJoiner joiner;
    for (std::size_t i = 0; i + 1 < count; ++i) CHECK_FALSE(joiner.add(key, fragments[i]));
    const auto received = joiner.add(key, fragments.back());
    REQUIRE(received);
    CHECK(received->payload == sent.payload);
    CHECK(received->kind == Collective::all_reduce);
    CHECK(received->sequence == 7);
  }
}

TEST_CASE("fragments of two senders do not mix") {
  const Message one = message_of(20);
  const Message other = message_of(13);
  const auto of_one = fragments_of(one, 10);
  const auto of_other = fragments_of(other, 10);
  FragmentJoiner joiner;
  CHECK_FALSE(joiner.add({5, 0, 2}, of_one[0]));
  CHECK_FALSE(joiner.add({5, 1, 2}, of_other[0]));
  CHECK(joiner.add({5, 0, 2}, of_one[1])->payload == one.payload);
  CHECK(joiner.add({5, 1, 2}, of_other[1])->payload == other.payload);
}

TEST_CASE("every fragment says what its sender was doing") {
  for (const auto& fragment : fragments_of(message_of(20), 7)) CHECK(fragment_header(fragment).action == 11);
}

TEST_CASE("a fragment without a whole header is our bug") {
  CHECK_THROWS_AS(fragment_header(std::vector<std::byte>(3)), InternalError);
}

}  // namespace
}  // namespace plumbline
