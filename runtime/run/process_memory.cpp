#include "runtime/run/process_memory.h"

#include <sys/resource.h>

namespace plumbline {

Bytes process_resident_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return Bytes(0);
#ifdef __APPLE__
  return Bytes(usage.ru_maxrss);
#else
  return Bytes(usage.ru_maxrss * 1024);  // Linux counts in KiB
#endif
}

}  // namespace plumbline
