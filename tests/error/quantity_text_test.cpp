#include "core/base/errors.h"
#include "core/quantity/text.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

/// What the reader says about a text, or "accepted".
template <class Read>
std::string refusal(Read read, std::string_view text) {
  try {
    (void)read(text, "--flag");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a number without its unit is refused, and the units are listed") {
  CHECK(
      refusal(parse_bytes, "80") ==
      "--flag: \"80\" has no unit; expected a number followed by one of B, KB, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB");
}

TEST_CASE("a foreign unit is refused") {
  CHECK_THAT(refusal(parse_bytes, "80 GB/s"), ContainsSubstring("has an unknown unit"));
  CHECK_THAT(refusal(parse_bandwidth, "80 GB"), ContainsSubstring("has an unknown unit"));
  CHECK_THAT(refusal(parse_duration, "3 hours"), ContainsSubstring("has an unknown unit"));
  CHECK_THAT(refusal(parse_bytes, "80 gib"), ContainsSubstring("has an unknown unit"));
  CHECK_THAT(refusal(parse_bytes, "80 GiB x"), ContainsSubstring("has an unknown unit"));
}

TEST_CASE("what is no number is refused") {
  for (const char* text : {"", "GiB", " 80 GiB", "--1 B", "+1 B", "0x10 B"}) {
    INFO(text);
    CHECK(refusal(parse_bytes, text) != "accepted");
  }
}

TEST_CASE("negative, infinite, undefined and absurd amounts are refused") {
  for (const char* text : {"-1 B", "inf B", "nan B", "1e400 B", "1e300 TiB", "9e18 KB"}) {
    INFO(text);
    CHECK_THAT(refusal(parse_bytes, text), ContainsSubstring("is out of range"));
  }
  CHECK_THAT(refusal(parse_power, "1e30 W"), ContainsSubstring("is out of range"));
}

TEST_CASE("a count must be whole and positive") {
  for (const char* text : {"0", "0.5", "1.0001K", "-3", "nan", "1e30"}) {
    INFO(text);
    CHECK(refusal(parse_count, text) != "accepted");
  }
  CHECK_THAT(refusal(parse_count, "0"), ContainsSubstring("is not a positive whole number"));
}

TEST_CASE("a long text is not repeated in full") {
  CHECK(refusal(parse_bytes, std::string(100'000, '7')).size() < 300);
}

}  // namespace
}  // namespace plumbline
