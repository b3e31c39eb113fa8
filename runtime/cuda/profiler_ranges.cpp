#include "runtime/cuda/profiler_ranges.h"

#include <cstdlib>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define PLUMBLINE_NVTX_HEADERS
#endif

namespace plumbline {

#ifdef PLUMBLINE_NVTX_HEADERS
bool ranges_are_asked_for() {
  return std::getenv("NVTX_INJECTION64_PATH") != nullptr || std::getenv("PLUMBLINE_NVTX") != nullptr;
}
void push_profiler_range(const char* name) { (void)nvtxRangePushA(name); }
void pop_profiler_range() { (void)nvtxRangePop(); }
#else
bool ranges_are_asked_for() { return false; }
void push_profiler_range(const char*) {}
void pop_profiler_range() {}
#endif

}  // namespace plumbline
