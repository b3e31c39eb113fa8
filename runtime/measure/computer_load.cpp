#include "runtime/measure/computer_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/quantity/text.h"

namespace plumbline {
namespace {

/// On an idle computer single kernels have 0.98 of a core and more; the rest is the system's.
constexpr double idle_core_share = 0.9;
/// A program that computes keeps a core busy, and what waits for input next to none.
constexpr double idle_cores_of_others = 0.5;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

std::optional<double> busy_core_seconds(std::string_view stat, double ticks_per_second) {
  std::istringstream words{std::string(stat.substr(0, stat.find('\n')))};
  std::string name;
  std::array<double, 8> ticks{};  // user, nice, system, idle, iowait, irq, softirq, steal
  words >> name;
  for (double& one : ticks) words >> one;
  if (name != "cpu" || !words) return std::nullopt;
  const auto [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
  return (user + nice + system + irq + softirq + steal) / ticks_per_second;
}

std::optional<LoadReading> read_load() {
  const std::ifstream file("/proc/stat");
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return std::nullopt;
  const auto busy = busy_core_seconds(text.str(), static_cast<double>(sysconf(_SC_CLK_TCK)));
  rusage own{};
  if (!busy || getrusage(RUSAGE_SELF, &own) != 0) return std::nullopt;
  const std::chrono::duration<double> clock = std::chrono::steady_clock::now().time_since_epoch();
  return LoadReading{clock.count(), *busy, seconds(own.ru_utime) + seconds(own.ru_stime)};
}

double cores_of_others(const LoadReading& before, const LoadReading& after) {
  const double clock = after.clock_s - before.clock_s;
  if (clock <= 0) return 0;
  const double others = (after.busy_core_s - before.busy_core_s) - (after.own_core_s - before.own_core_s);
  return std::max(0., others / clock);
}

std::string busy_words(const Disturbance& d) {
  std::string found;
  if (d.cores_of_others >= idle_cores_of_others)
    found = "other programs used " + fixed(d.cores_of_others, 1) + " of its " + std::to_string(d.cores) +
            (d.cores == 1 ? " core" : " cores");
  if (d.core_share < idle_core_share)
    found +=
        (found.empty() ? "" : ", and ") + std::string("kernels had ") + fixed(100 * d.core_share, 0) + " % of a core";
  if (found.empty()) return "";
  return "this computer was busy: " + found +
         " while kernels were timed. Caches, memory and clocks are shared, and collectives are timed by the clock: "
         "expect numbers that are too slow; stop the other programs and measure again";
}

}  // namespace plumbline
