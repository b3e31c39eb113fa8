// Outputs of nccl-tests and JSON, as they are printed and as they are cut off.

#include "core/io/timed_collectives.h"

#include <tuple>

#include "core/base/errors.h"
#include "tests/catch.h"

using namespace plumbline;

namespace {

constexpr const char* two_nodes = R"(# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809
# Collective test starting: all_gather_perf
# nThread 1 nGpus 1 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 1 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid    313 on     node-a device  0 [0000:0a:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid    314 on     node-b device  0 [0000:0a:00] NVIDIA H100 80GB HBM3
node-a:313:313 [0] NCCL INFO Bootstrap: Using eth0
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
           0             0     float    none      -1     9.00    0.00    0.00       0     9.00    0.00    0.00       0
        1024           128     float    none      -1    12.50    0.08    0.04       0    13.00    0.08    0.04       0
        2048           256     float    none      -1    13.00    0.16    0.08       0    13.50    0.15    0.08       0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.06
)";

/// In 2021 the columns have no root, and no line says what was tested.
constexpr const char* old_release = R"(# nThread 1 nGpus 2 minBytes 1024 maxBytes 1024 step: 2(factor)
# Using devices
#   Rank  0 Pid 190712 on blg94 device  0 [0x1c] Tesla V100-SXM2-32GB
#   Rank  1 Pid 190712 on blg94 device  1 [0x1d] Tesla V100-SXM2-32GB
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
        1024           256   float     sum    14.20    0.07    0.07  0e+00    14.10    0.07    0.07  0e+00
)";

void require_timing(const TimedCollective& found, const TimedCollective& expected) {
  CHECK(found.kind == expected.kind);
  CHECK(found.bytes == expected.bytes);
  CHECK(found.ranks == expected.ranks);
  CHECK(found.nodes == expected.nodes);
  CHECK(found.time.value() == Approx(expected.time.value()));
}

}  // namespace

TEST_CASE("Ranks, nodes, sizes and out-of-place times are read from an output of nccl-tests") {
  const auto timings = read_timed_collectives(two_nodes, "log", std::nullopt);
  REQUIRE(timings.size() == 2);  // the empty message is left out
  require_timing(timings[0], {Collective::all_gather, Bytes(1024), 2, 2, Seconds(12.5e-6)});
  require_timing(timings[1], {Collective::all_gather, Bytes(2048), 2, 2, Seconds(13e-6)});
}

TEST_CASE("Two outputs in one text are two tests") {
  const auto timings = read_timed_collectives(std::string(two_nodes) + old_release, "log", Collective::all_gather);
  REQUIRE(timings.size() == 3);
  CHECK(timings[1].nodes == 2);
  require_timing(timings[2], {Collective::all_gather, Bytes(1024), 2, 1, Seconds(14.2e-6)});
}

TEST_CASE("An old release is read when it is said what it tested, and only then") {
  const auto timings = read_timed_collectives(old_release, "log", Collective::all_reduce);
  REQUIRE(timings.size() == 1);
  require_timing(timings[0], {Collective::all_reduce, Bytes(1024), 2, 1, Seconds(14.2e-6)});
  CHECK_THROWS_WITH(
      read_timed_collectives(old_release, "log", std::nullopt),
      Catch::Matchers::ContainsSubstring("log:6") && Catch::Matchers::ContainsSubstring("all-reduce=log"));
}

TEST_CASE("A bus bandwidth in JSON is the time that nccl-tests would have printed") {
  const auto timings = read_timed_collectives(
      R"({"format": "plumbline.collectives/1", "timings": [
          {"collective": "all-reduce", "ranks": 8, "bytes": 1000000000, "bus_bandwidth_gbps": 175},
          {"collective": "send-receive", "ranks": 2, "nodes": 2, "bytes": 1000, "time_s": 1e-5}]})",
      "file", std::nullopt);
  REQUIRE(timings.size() == 2);
  CHECK(timings[0].time.value() == Approx(0.01));  // 1.75 of the buffer at 175 GB/s
  require_timing(timings[1], {Collective::send_receive, Bytes(1000), 2, 2, Seconds(1e-5)});
}

/// An output of four ranks that does not say what it tested: a message too small for its bandwidths, and a large one.
std::string unnamed(const std::string& redop, const std::string& small, const std::string& large) {
  std::string text = "# nThread 1 nGpus 4\n";
  for (const char* rank : {"0", "1", "2", "3"})
    text += "#  Rank  " + std::string(rank) + " Pid 1 on host device  " + rank + " [0x18] NVIDIA A100-SXM4-80GB\n";
  return text + "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n" + "  1024  256  float  " + redop +
         "  -1  14.20  " + small + "  0\n" + "  134217728  33554432  float  " + redop + "  -1  610.10  " + large +
         "  0\n";
}

TEST_CASE("A test that names no collective is told by its bandwidths where it sums") {
  for (const auto& [small, large, kind] : {std::tuple("0.07  0.11", "220.00  330.00", Collective::all_reduce),
                                           std::tuple("0.07  0.05", "220.00  165.00", Collective::reduce_scatter)}) {
    const auto timings = read_timed_collectives(unnamed("sum", small, large), "log", std::nullopt);
    REQUIRE(timings.size() == 2);
    for (const TimedCollective& timing : timings) CHECK(timing.kind == kind);
  }
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      (void)read_timed_collectives(text, "log", std::nullopt);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string unclear =
      "log:7: does not say which collective was tested; expected the collective before the file: "
      "all-reduce=log";
  CHECK(refusal(unnamed("none", "0.07  0.05", "220.00  165.00")) == unclear);  // all-gather or all-to-all
  CHECK(refusal(unnamed("sum", "0.07  0.07", "220.00  220.00")) == unclear);   // a factor of no collective
  std::string rooted = unnamed("sum", "0.07  0.11", "220.00  330.00");
  for (std::size_t at = rooted.find(" -1 "); at != std::string::npos; at = rooted.find(" -1 "))
    rooted.replace(at, 4, " 0 ");
  CHECK(refusal(rooted) == unclear);  // a reduce
  CHECK(refusal(old_release) ==
        "log:6: does not say which collective was tested; expected the collective before the "
        "file: all-reduce=log");
}
