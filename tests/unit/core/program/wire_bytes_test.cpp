// Bytes on the wire by the kind of group that a block communicates in.
#include "core/program/wire_bytes.h"

#include "tests/catch.h"

namespace plumbline::wire_bytes_test {
namespace {

TEST_CASE("bytes of a kind of group are found by it, and add up by it") {
  WireBytes sent;
  for (const BlockAxis axis : block_axes) sent[axis] += Bytes(static_cast<std::int64_t>(axis) + 1);
  CHECK(sent == WireBytes{Bytes(1), Bytes(2), Bytes(3)});
  const WireBytes twice = sent + sent;
  CHECK(twice == WireBytes{Bytes(2), Bytes(4), Bytes(6)});
  CHECK(twice[BlockAxis::context] == Bytes(4));
}

TEST_CASE("ranks that divide an expert count with those that exchange rows") {
  CHECK(block_axis(Axis::tensor) == BlockAxis::tensor);
  CHECK(block_axis(Axis::context) == BlockAxis::context);
  CHECK(block_axis(Axis::expert) == BlockAxis::expert);
  CHECK(block_axis(Axis::expert_tensor) == BlockAxis::expert);
}

}  // namespace
}  // namespace plumbline::wire_bytes_test
