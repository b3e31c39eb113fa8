// Timed collectives that are cut off, of something else or absurd are refused in one line that says where.

#include "core/io/timed_collectives.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline::timed_collectives_test {
namespace {

/// What the reader says about a text, or "accepted".
std::string refusal(std::string_view text, std::optional<Collective> kind = std::nullopt) {
  try {
    (void)read_timed_collectives(text, "log", kind);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string log_of(std::string_view program, std::string_view line) {
  return "# Collective test starting: " + std::string(program) +
         "\n#  Rank  0 Group  0 Pid 1 on a device 0\n#  Rank  1 Group  0 Pid 2 on a device 1\n" + std::string(line) +
         "\n";
}

std::string json_of(std::string_view timing) {
  return R"({"format": "plumbline.collectives/1", "timings": [)" + std::string(timing) + "]}";
}

TEST_CASE("what is no output of nccl-tests is refused") {
  CHECK(refusal("") == "log: holds no timing; expected the output of a program of nccl-tests, or JSON");
  CHECK(refusal("hello\n1 2 3\n") == "log: holds no timing; expected the output of a program of nccl-tests, or JSON");
  CHECK(refusal(log_of("all_reduce_perf", "1024 256 float sum -1 12.5")) == "accepted");
}

TEST_CASE("lines that are cut off or absurd are refused with their number") {
  CHECK(refusal(log_of("all_reduce_perf", "1024 256 float sum")) ==
        "log:4: a line of numbers without a time in column 6; expected a line as nccl-tests prints it");
  CHECK(refusal(log_of("all_reduce_perf", "1024 256 float sum -1 nan")).starts_with("log:4: a line of numbers"));
  CHECK(refusal(log_of("all_reduce_perf", "1024 256 float sum -1 0")).starts_with("log:4: a size or a time beyond"));
  CHECK(refusal(log_of("all_reduce_perf", "-8 256 float sum -1 3")).starts_with("log:4: a size or a time beyond"));
  CHECK(
      refusal(log_of("all_reduce_perf", "1024 256 float sum -1 1e300")).starts_with("log:4: a size or a time beyond"));
  CHECK(refusal("# Collective test starting: all_reduce_perf\n# Rank 0 Pid 1\n").starts_with("log:2: a rank without"));
}

TEST_CASE("tests of other collectives, of several groups and of uneven hosts are refused") {
  CHECK(refusal(log_of("all_reduce_prf", "")) ==
        "log:1: is of \"all_reduce_prf\"; expected a collective that plans use; nearest: all_reduce_perf");
  CHECK(refusal(log_of("hypercube_perf", "")).starts_with("log:1: is of \"hypercube_perf\""));
  CHECK(refusal(log_of("all_reduce_perf", ""), Collective::all_gather) ==
        "log:1: is of all_reduce_perf; expected the output of a test of all-gather");
  CHECK(refusal("# Rank 0 Pid 1 on a device 0\n1024 256 float sum -1 12.5\n", Collective::all_reduce) ==
        "log:2: is of one rank, which sends nothing; expected a test of two ranks or more");
  CHECK(refusal("# Rank 0 Group 1 Pid 1 on a device 0\n").starts_with("log:1: is of several groups"));
  CHECK(refusal("# Rank 0 Pid 1 on a device 0\n# Rank 1 Pid 1 on a device 1\n# Rank 2 Pid 1 on b device 0\n"
                "1024 256 float sum -1 12.5\n",
                Collective::all_reduce) == "log:4: 3 ranks on 2 hosts; expected as many ranks on each host");
}

TEST_CASE("JSON is read strictly") {
  const std::string ok = R"({"collective": "all-reduce", "ranks": 8, "bytes": 1024, "time_s": 1e-5})";
  CHECK(refusal(json_of(ok)) == "accepted");
  CHECK(refusal(json_of("")).starts_with("log:/timings: holds no timing"));
  CHECK(refusal(json_of(ok), Collective::broadcast).starts_with("log:/timings/0/collective: is all-reduce"));
  for (const auto& [changed, where] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"collective": "all-redcue", "ranks": 8, "bytes": 1024, "time_s": 1e-5})", "log:/timings/0/collective"},
           {R"({"collective": "all-reduce", "ranks": 1, "bytes": 1024, "time_s": 1e-5})", "log:/timings/0/ranks"},
           {R"({"collective": "all-reduce", "ranks": 8, "nodes": 3, "bytes": 1024, "time_s": 1e-5})",
            "log:/timings/0/nodes"},
           {R"({"collective": "all-reduce", "ranks": 8, "bytes": 0, "time_s": 1e-5})", "log:/timings/0/bytes"},
           {R"({"collective": "all-reduce", "ranks": 8, "bytes": 1024, "time_s": 0})", "log:/timings/0/time_s"},
           {R"({"collective": "all-reduce", "ranks": 8, "bytes": 1024})", "log:/timings/0: neither"},
           {R"({"collective": "all-reduce", "ranks": 8, "bytes": 1, "time_s": 1, "bus_bandwidth_gbps": 1})",
            "log:/timings/0: both"},
           {R"({"collective": "all-reduce", "ranks": 8, "bytes": 1024, "time_s": 1e-5, "size": 1})", "log:/timings/0"}})
    CHECK(refusal(json_of(changed)).starts_with(where));
}

}  // namespace
}  // namespace plumbline::timed_collectives_test
