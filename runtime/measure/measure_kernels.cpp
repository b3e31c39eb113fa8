#include "runtime/measure/measure_kernels.h"

#include <algorithm>
#include <chrono>

#include "kernels/matmul.h"
#include "runtime/measure/timing.h"

namespace plumbline {

KernelTable measure_kernels(const MeasureOptions& options) {
  KernelTable table;
  table.library = reference::matmul_library();
  table.cores = options.cores;
  const auto measure = [&](auto part) {
    if (!options.stop.stop_requested()) part(options, table);
  };
  const auto begin = std::chrono::steady_clock::now();
  const double worked = thread_seconds();
  for (const auto part : {measure_products, measure_attention, measure_memory_bound}) measure(part);
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  table.core_share = std::clamp((thread_seconds() - worked) / std::max(passed, 1e-9), 0.0, 1.0);
  for (const auto part : {measure_collectives, measure_crowds}) measure(part);
  options.progress("");
  return table;
}

}  // namespace plumbline
