#include "core/quantity/text.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("GB is 10^9 bytes and GiB is 2^30") {
  CHECK(parse_bytes("80 GiB", "x") == 80_GiB);
  CHECK(parse_bytes("80 GB", "x") == 80_GB);
  CHECK(parse_bytes("80GB", "x") == 80_GB);
  CHECK(parse_bytes("1.5 KiB", "x") == Bytes(1536));
  CHECK(parse_bytes("0 B", "x") == Bytes(0));
}

TEST_CASE("bits per second become bytes per second") {
  CHECK(parse_bandwidth("400 Gb/s", "x").value() == Approx(50e9));
  CHECK(parse_bandwidth("450 GB/s", "x").value() == Approx(450e9));
}

TEST_CASE("rates, durations and powers are read with their prefixes") {
  CHECK(parse_flop_rate("989 TFLOP/s", "x").value() == Approx(989e12));
  CHECK(parse_duration("30s", "x").value() == Approx(30));
  CHECK(parse_duration("2.5 us", "x").value() == Approx(2.5e-6));
  CHECK(parse_duration("1 d", "x").value() == Approx(86400));
  CHECK(parse_power("10.2 kW", "x").value() == Approx(10200));
}

TEST_CASE("a count is a whole positive number with an optional suffix") {
  CHECK(parse_count("4096", "x") == 4096);
  CHECK(parse_count("15T", "x") == 15'000'000'000'000);
  CHECK(parse_count("1.5M", "x") == 1'500'000);
  CHECK(parse_count("500B", "x") == 500'000'000'000);
}

TEST_CASE("amounts that are written with enough digits read back as they were") {
  for (const char* text : {"1.00 KiB", "16.0 MiB", "80.0 GiB", "640 GiB"}) {
    CHECK(to_text(parse_bytes(text, "x")) == text);
  }
  for (const char* text : {"450 GB/s", "3.35 TB/s"}) CHECK(to_text(parse_bandwidth(text, "x")) == text);
  for (const char* text : {"30.0 s", "2.50 us", "12.3 ms"}) CHECK(to_text(parse_duration(text, "x")) == text);
  CHECK(to_text(parse_flop_rate("989 TFLOP/s", "x")) == "989 TFLOP/s");
}

TEST_CASE("counts are grouped by thousands and shortened with a suffix") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1'234'567) == "1 234 567");
  CHECK(grouped(-1'234) == "-1 234");
  CHECK(grouped(-123) == "-123");
  CHECK(count_text(70'553'706'496) == "70.6 B");
}

TEST_CASE("fixed writes no exponent and no locale") {
  CHECK(fixed(1e10, 1) == "10000000000.0");
  CHECK(fixed(0.125, 2) == "0.12");
  CHECK(fixed(1e300, 2) == "out of range");
}

}  // namespace
}  // namespace plumbline
