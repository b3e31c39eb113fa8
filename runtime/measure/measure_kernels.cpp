#include "runtime/measure/measure_kernels.h"

#include "kernels/matmul.h"

namespace plumbline {

KernelTable measure_kernels(const MeasureOptions& options) {
  KernelTable table;
  table.library = reference::matmul_library();
  table.cores = options.cores;
  for (const auto part :
       {measure_products, measure_attention, measure_memory_bound, measure_collectives, measure_crowds})
    if (!options.stop.stop_requested()) part(options, table);
  options.progress("");
  return table;
}

}  // namespace plumbline
