#include "core/quantity/quantity.h"

#include <concepts>

#include "tests/catch.h"

namespace plumbline {
namespace {

template <class A, class B>
concept can_add = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept can_multiply = requires(A a, B b) {
  a* b;
};
template <class A, class B>
concept can_divide = requires(A a, B b) {
  a / b;
};
template <class A, class B>
concept can_compare = requires(A a, B b) {
  a < b;
};

// Only what means something compiles.
static_assert(can_add<Bytes, Bytes>);
static_assert(!can_add<Bytes, Flops>, "bytes plus FLOPs is nothing");
static_assert(!can_add<Bytes, std::int64_t>, "a plain number has no unit");
static_assert(!can_add<Seconds, Picoseconds>, "a change of unit is said aloud");
static_assert(!can_multiply<Bytes, Bytes>, "square bytes are nothing");
static_assert(!can_multiply<Seconds, Seconds>);
static_assert(!can_divide<Bytes, FlopsPerSecond>, "bytes do not pass through an arithmetic unit");
static_assert(!can_divide<Flops, BytesPerSecond>);
static_assert(!can_compare<Bytes, Flops>);
static_assert(!can_compare<Bytes, std::int64_t>);
static_assert(!std::convertible_to<std::int64_t, Bytes>, "no number becomes bytes by itself");
static_assert(!std::convertible_to<Bytes, std::int64_t>, "and no bytes become a number");

static_assert(std::same_as<decltype(Bytes() / BytesPerSecond()), Seconds>);
static_assert(std::same_as<decltype(Flops() / FlopsPerSecond()), Seconds>);
static_assert(std::same_as<decltype(Bytes() / Seconds()), BytesPerSecond>);
static_assert(std::same_as<decltype(Flops() / Seconds()), FlopsPerSecond>);
static_assert(std::same_as<decltype(Watts() * Seconds()), Joules>);
static_assert(std::same_as<decltype(Bytes() / Bytes()), double>);
static_assert(std::same_as<decltype(Bytes() / std::int64_t{2}), Bytes>);

static_assert(1_KiB == Bytes(1024) && 1_MiB == Bytes(1'048'576) && 1_GiB == Bytes(1'073'741'824));
static_assert(1_GB == Bytes(1'000'000'000));
static_assert(sizeof(Bytes) == sizeof(std::int64_t), "a quantity costs what its number costs");

TEST_CASE("sums and scales stay in their unit") {
  Bytes total(3);
  total += Bytes(4);
  total -= Bytes(2);
  CHECK(total == Bytes(5));
  CHECK(std::int64_t{3} * total == total * 3);
  CHECK(Bytes(7) / std::int64_t{2} == Bytes(3));
}

TEST_CASE("bytes are exact far beyond what a double holds") {
  CHECK((Bytes((std::int64_t{1} << 53) + 1)).value() - (std::int64_t{1} << 53) == 1);
}

TEST_CASE("80 GiB through 2 TB/s take 42.9 ms") {
  // 85 899 345 920 / 2e12 = 0.04294967296
  CHECK((80_GiB / BytesPerSecond(2e12)).value() == Approx(0.04294967296).epsilon(1e-15));
}

TEST_CASE("picoseconds round to the nearest and saturate instead of overflowing") {
  CHECK(to_picoseconds(Seconds(1e-12)) == Picoseconds(1));
  CHECK(to_picoseconds(Seconds(1.6e-12)) == Picoseconds(2));
  CHECK(to_picoseconds(Seconds(0)) == Picoseconds(0));
  CHECK(to_picoseconds(Seconds(1e12)) == Picoseconds(9'000'000'000'000'000'000));
  CHECK(to_picoseconds(Seconds(std::numeric_limits<double>::infinity())) > Picoseconds(0));
  CHECK(to_seconds(to_picoseconds(Seconds(1.5))).value() == Approx(1.5));
}

}  // namespace
}  // namespace plumbline
