#pragma once
/// \file computer_load.h: how much of this computer other programs use while its kernels are measured.
///
/// Answers: cores. Model: processor time of the whole computer less this process's own, over the clock, between two
/// readings. Source: proc(5) (/proc/stat, line "cpu": user, nice, system, irq, softirq, steal in clock ticks),
/// getrusage(2). Not modelled: programs outside of a virtual machine, but for the time that they steal. Checked
/// against: tests/runtime/measure/computer_load_test.cpp (readings by hand; a busy thread of this process).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumbline {

/// Since some moment in the past, the same for all readings.
struct LoadReading {
  double clock_s = 0;
  double busy_core_s = 0;  ///< of all processes on all cores
  double own_core_s = 0;   ///< of this process
};
/// Nothing where the system does not say.
[[nodiscard]] std::optional<LoadReading> read_load();

/// Seconds that all cores were busy, of the text of /proc/stat; nothing for another text.
[[nodiscard]] std::optional<double> busy_core_seconds(std::string_view stat, double ticks_per_second);
/// Cores that other processes kept busy between two readings; at least 0.
[[nodiscard]] double cores_of_others(const LoadReading& before, const LoadReading& after);

/// What disturbs a measurement. `core_share`: processor time of single kernels over the clock (KernelTable).
struct Disturbance {
  double core_share = 1;
  double cores_of_others = 0;
  std::int32_t cores = 1;
};
/// What to say of it, with what to do; empty where the computer was idle.
[[nodiscard]] std::string busy_words(const Disturbance& disturbance);

}  // namespace plumbline
