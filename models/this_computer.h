#pragma once
/// \file this_computer.h: the computer that the program runs on as a machine: up to 64 ranks that share its cores.
///
/// Answers: a cluster of one node whose devices are processes on one core each. Model: the peak of a core is its clock
/// times the FLOPs of its widest multiply-add units; ranks beyond the cores share them (core/machine/node.h). Cores and
/// memory are those that the process may use: CPU affinity and the control group's limits count.
/// Source: /proc and /sys of Linux (proc(5), the kernel's cgroup-v2 documentation), sysconf(3) elsewhere; FLOPs a cycle
/// as in Intel's and AMD's optimisation manuals. Not modelled: memory bandwidth, which is assumed until `calibrate`
/// measures it; cores that share a cache or a pipeline (hyper-threads count as cores); sockets.
/// Checked against: tests/unit/models/this_computer_test.cpp (texts of /proc of known computers).

#include <optional>
#include <string>
#include <string_view>

#include "core/machine/cluster.h"

namespace plumbline {

inline constexpr std::string_view this_computer_name = "this-computer";
inline constexpr std::int32_t most_local_ranks = 64;

/// What the operating system says, as texts; absent: there is no such file.
struct ComputerTexts {
  std::string cpuinfo;                            ///< /proc/cpuinfo
  std::string meminfo;                            ///< /proc/meminfo
  std::optional<std::string> highest_clock;       ///< cpufreq/cpuinfo_max_freq, in kHz
  std::optional<std::string> group_cpu_limit;     ///< cpu.max: "200000 100000" or "max 100000"
  std::optional<std::string> group_memory_limit;  ///< memory.max: bytes or "max"
};

struct ComputerFacts {
  std::string vendor;  ///< "GenuineIntel", ...; "unknown"
  std::string model;
  std::int32_t cores = 1;  ///< that this process may use
  Bytes memory{0};
  Bytes cache{0};  ///< last level; 0: unknown
  double clock_hertz = 0;
  std::string clock_source;
  double flops_per_cycle = 0;  ///< fp32, of one core
  std::string vector_units;    ///< "AVX-512", ...
};

/// Pure. `usable_cores`: by affinity; `memory`: where meminfo says nothing.
[[nodiscard]] ComputerFacts facts_from(const ComputerTexts& texts, std::int32_t usable_cores, Bytes memory);
/// Of the computer and process that this is.
[[nodiscard]] ComputerFacts computer_facts();
/// A node of 64 ranks; with_device_count gives the share of fewer.
[[nodiscard]] Cluster this_computer(const ComputerFacts& facts);

}  // namespace plumbline
