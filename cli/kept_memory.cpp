#include "cli/kept_memory.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace plumbline {

bool keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kept = 1 << 30;
  constexpr int largest_threshold = 1 << 25;  // DEFAULT_MMAP_THRESHOLD_MAX on 64 bits
  return mallopt(M_TRIM_THRESHOLD, kept) == 1 && mallopt(M_MMAP_THRESHOLD, largest_threshold) == 1;
#else
  return false;
#endif
}

}  // namespace plumbline
