#include "runtime/communication/reduce.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/errors.h"
#include "kernels/number_conversion.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

template <class T>
std::vector<T> reduced(const std::vector<std::vector<T>>& contributions, ElementFormat format, Reduction reduction) {
  std::vector<std::span<const std::byte>> spans;
  for (const auto& c : contributions) spans.push_back(std::as_bytes(std::span(c)));
  std::vector<T> result(contributions.front().size());
  reduce_in_order(spans, std::as_writable_bytes(std::span(result)), format, reduction);
  return result;
}

// (2^24 + 1) + 1: 2^24 + 1 lies between two floats and goes to the even one, 2^24, twice. (1 + 1) + 2^24 is exact.
TEST_CASE("fp32 sums are formed in the order of the contributions") {
  const float big = 0x1p24F;
  CHECK(reduced<float>({{big}, {1}, {1}}, ElementFormat::fp32, Reduction::sum)[0] == big);
  CHECK(reduced<float>({{1}, {1}, {big}}, ElementFormat::fp32, Reduction::sum)[0] == big + 2);
}

// bf16 has steps of 2 from 256 on, fp16 from 2048 on: rounding after every step would stay at the first number.
TEST_CASE("Sums of 16-bit numbers round once") {
  const auto bf16_sum =
      reduced<Bf16Bits>({{to_bf16(256)}, {to_bf16(1)}, {to_bf16(1)}}, ElementFormat::bf16, Reduction::sum);
  CHECK(from_bf16(bf16_sum[0]) == 258.0F);
  const auto fp16_sum =
      reduced<Fp16Bits>({{to_fp16(2048)}, {to_fp16(1)}, {to_fp16(1)}}, ElementFormat::fp16, Reduction::sum);
  CHECK(from_fp16(fp16_sum[0]) == 2050.0F);
}

TEST_CASE("A sum over the largest fp16 is infinite, a sum of negative zeros is negative zero") {
  const auto over = reduced<Fp16Bits>({{to_fp16(65504)}, {to_fp16(65504)}}, ElementFormat::fp16, Reduction::sum);
  CHECK(std::isinf(from_fp16(over[0])));
  CHECK(std::signbit(reduced<float>({{-0.0F}, {-0.0F}}, ElementFormat::fp32, Reduction::sum)[0]));
}

TEST_CASE("A maximum is the largest, and a NaN wherever a rank has one") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto result =
      reduced<float>({{1, nan, 3, -5}, {2, 7, nan, -4}, {0, 8, 9, -6}}, ElementFormat::fp32, Reduction::maximum);
  CHECK(result[0] == 2.0F);
  CHECK(std::isnan(result[1]));
  CHECK(std::isnan(result[2]));
  CHECK(result[3] == -4.0F);
}

TEST_CASE("More elements than one block are all reduced, and the result may be a contribution") {
  std::vector<float> a(2500);
  std::vector<float> b(2500);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  const std::array<std::span<const std::byte>, 2> both{std::as_bytes(std::span(a)), std::as_bytes(std::span(b))};
  reduce_in_order(both, std::as_writable_bytes(std::span(b)), ElementFormat::fp32, Reduction::sum);
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(b[i] == static_cast<float>(3 * i));
}

TEST_CASE("Plain bytes are not summed") {
  CHECK_THROWS_AS(reduced<std::uint8_t>({{1}, {2}}, ElementFormat::bytes, Reduction::sum), InternalError);
}

}  // namespace
}  // namespace plumbline
