// What other programs take of this computer while it is measured.

#include "runtime/measure/computer_load.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

// 100 + 20 + 30 + 4 + 5 + 1 ticks of 10 ms; idle and iowait do not count.
TEST_CASE("busy seconds are all but idle and waiting ones") {
  CHECK(busy_core_seconds("cpu  100 20 30 9000 700 4 5 1 0 0\ncpu0 1 2 3\n", 100) == Approx(1.6));
  CHECK_FALSE(busy_core_seconds("cpu 100 20", 100));
  CHECK_FALSE(busy_core_seconds("intr 1 2 3 4 5 6 7 8", 100));
  CHECK_FALSE(busy_core_seconds("", 100));
}

// Of 10 s all cores were busy for 45, 12 of them with this process: (45 - 12) / 10.
TEST_CASE("what others use is what is busy and not our own, over the clock") {
  const LoadReading before{100, 1000, 50};
  CHECK(cores_of_others(before, {110, 1045, 62}) == Approx(3.3));
  CHECK(cores_of_others(before, {110, 1011, 62}) == 0);  // clocks of different grain
  CHECK(cores_of_others(before, before) == 0);
}

TEST_CASE("a busy computer is said with its number and what to do, an idle one is not") {
  CHECK(busy_words({0.98, 0.1, 16}).empty());
  const std::string others = busy_words({0.98, 3.3, 16});
  CHECK(others.find("other programs used 3.3 of its 16 cores while kernels were timed") != std::string::npos);
  CHECK(others.find("stop the other programs and measure again") != std::string::npos);
  CHECK(busy_words({0.5, 0.1, 2}).find("kernels had 50 % of a core while") != std::string::npos);
  CHECK(busy_words({0.5, 1.5, 2}).find("used 1.5 of its 2 cores, and kernels had 50 % of a core") != std::string::npos);
}

TEST_CASE("readings of this computer grow, and its own time is not taken for that of others") {
  const auto before = read_load();
  if (!before) return;  // no Linux
  volatile double sink = 0;
  for (int i = 0; i < 20'000'000; ++i) sink = sink + i;
  const auto after = read_load();
  REQUIRE(after);
  CHECK(after->clock_s > before->clock_s);
  CHECK(after->own_core_s > before->own_core_s);
  CHECK(after->busy_core_s >= before->busy_core_s);
}

}  // namespace
}  // namespace plumbline
