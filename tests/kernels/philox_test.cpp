#include "kernels/philox.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

// The kat_vectors file that Random123 distributes, lines "philox4x32 10".
static_assert(philox({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST_CASE("A dropout's words differ by seed, op, micro-batch and element") {
  const DropoutKey key{1ULL << 40, 3, 5};
  const PhiloxCounter words = dropout_words(key, 7);
  CHECK(words == dropout_words(key, 7));
  CHECK(words != dropout_words(key, 7ULL << 32));
  CHECK(words != dropout_words({1ULL << 41, 3, 5}, 7));
  CHECK(words != dropout_words({1ULL << 40, 5, 3}, 7));
  CHECK(dropout_threshold(0.5F) == 0x80000000U);
}

}  // namespace
}  // namespace plumbline
