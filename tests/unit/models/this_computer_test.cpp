// Texts of /proc as computers of known make give them, and the machine that follows.

#include "models/this_computer.h"

#include "core/base/errors.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

ComputerTexts server() {
  ComputerTexts texts;
  texts.cpuinfo =
      "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz\n"
      "flags\t\t: fpu sse sse2 avx fma avx2 avx512f avx512dq\nbogomips\t: 4800.00\n\nprocessor\t: 1\n";
  texts.meminfo = "MemTotal:       16777216 kB\nMemFree:         1000 kB\n";
  return texts;
}

}  // namespace

TEST_CASE("a core's peak is its clock times what its widest units finish in a cycle") {
  // Xeon Gold 6148: two AVX-512 FMA units, 2 x 16 lanes x 2 = 64 FLOPs a cycle; at 2.4 GHz 153.6 GFLOP/s.
  const ComputerFacts facts = facts_from(server(), 40, 1_GiB);
  CHECK(facts.vendor == "GenuineIntel");
  CHECK(facts.clock_hertz == 2.4e9);
  CHECK(facts.flops_per_cycle == 64);
  CHECK(facts.cores == 40);
  CHECK(facts.memory == 16_GiB);
  const Cluster alone = with_device_count(this_computer(facts), 1);
  CHECK(alone.groups.front().node.device.peak(NumberFormat::fp32)->value() == Approx(153.6e9));
  CHECK(alone.groups.front().node.device.peak(NumberFormat::bf16)->value() == Approx(153.6e9));
}

TEST_CASE("the clock is the highest that the system names, else the name's, else the counter's") {
  ComputerTexts texts = server();
  texts.highest_clock = "3700000\n";
  CHECK(facts_from(texts, 1, 1_GiB).clock_hertz == 3.7e9);
  texts.highest_clock.reset();
  texts.cpuinfo = "model name : Virtual CPU\nbogomips : 4000.00\nflags : fma avx\n";
  CHECK(facts_from(texts, 1, 1_GiB).clock_hertz == 2e9);
  CHECK(facts_from(texts, 1, 1_GiB).flops_per_cycle == 32);
}

TEST_CASE("texts that say nothing give a modest computer, not a failure") {
  for (const char* text : {"", "\n\n", ":", "model name", "model name :", "flags :\nbogomips : x", "MemTotal: -5 kB"}) {
    ComputerTexts texts{text, text, text, text, text};
    const ComputerFacts facts = facts_from(texts, 0, Bytes(0));
    CHECK(facts.cores == 1);
    CHECK(facts.memory >= 1_GiB);
    CHECK(facts.clock_hertz > 0);
    CHECK(facts.flops_per_cycle > 0);
  }
}

TEST_CASE("limits of the control group count") {
  ComputerTexts texts = server();
  texts.group_cpu_limit = "250000 100000\n";
  texts.group_memory_limit = "1073741824\n";
  CHECK(facts_from(texts, 40, 1_GiB).cores == 2);
  CHECK(facts_from(texts, 40, 1_GiB).memory == 1_GiB);
  texts.group_cpu_limit = "max 100000\n";
  texts.group_memory_limit = "max\n";
  CHECK(facts_from(texts, 40, 1_GiB).cores == 40);
  CHECK(facts_from(texts, 40, 1_GiB).memory == 16_GiB);
}

TEST_CASE("ranks share memory, and cores when there are more ranks than cores") {
  const Cluster computer = this_computer(facts_from(server(), 4, 1_GiB));
  CHECK(device_count(computer) == 64);
  const auto device = [&](std::int64_t ranks) { return with_device_count(computer, ranks).groups.front().node.device; };
  const double core = device(1).peak(NumberFormat::fp32)->value();
  CHECK(device(4).peak(NumberFormat::fp32)->value() == Approx(core));
  CHECK(device(8).peak(NumberFormat::fp32)->value() == Approx(core / 2));
  CHECK(device(64).peak(NumberFormat::fp32)->value() == Approx(core / 16));
  CHECK(device(8).memory_bandwidth.value.value() == Approx(device(1).memory_bandwidth.value.value() / 2));
  CHECK(device(1).memory.value == 16_GiB);
  CHECK(device(8).memory.value == 2_GiB);
  // From any number of ranks to any other, the same.
  const Cluster again = with_device_count(with_device_count(computer, 8), 2);
  CHECK(again.groups.front().node.device.peak(NumberFormat::fp32)->value() == Approx(core));
  CHECK(domain_devices(again) == 2);
  CHECK_THROWS_AS(with_device_count(computer, 128), InputError);
}

TEST_CASE("this-computer is found by its name, and written and read as a machine file") {
  const Cluster cluster = find_machine("this-computer");
  CHECK(cluster.name == "this-computer");
  CHECK(cluster == find_machine("This-Computer"));
  MachineDocument document;
  document.cluster = cluster;
  const Cluster back = *read_machine(machine_json(document), "m", {}).cluster;
  CHECK(back.groups.front().node.shared_cores == cluster.groups.front().node.shared_cores);
  CHECK(device_count(with_device_count(back, 4)) == 4);
}

}  // namespace plumbline
