#include "tests/cuda/fake_nvtx.h"

#include <nvtx3/nvToolsExt.h>

#include <mutex>
#include <stdexcept>
#include <utility>

namespace {

std::mutex ranges_mutex;
std::vector<fake_nvtx::Range> ranges;
int open_ranges = 0;
bool popped_too_many = false;
thread_local int depth = 0;

}  // namespace

extern "C" {

int nvtxRangePushA(const char* message) {
  const std::scoped_lock lock(ranges_mutex);
  ranges.push_back({depth, message});
  ++open_ranges;
  return depth++;
}

int nvtxRangePop() {
  const std::scoped_lock lock(ranges_mutex);
  if (depth == 0) {
    popped_too_many = true;
    return -1;
  }
  --open_ranges;
  return --depth;
}
}

namespace fake_nvtx {

std::vector<Range> take() {
  const std::scoped_lock lock(ranges_mutex);
  if (open_ranges != 0 || popped_too_many) throw std::logic_error("ranges were not pushed and popped in pairs");
  return std::exchange(ranges, {});
}

}  // namespace fake_nvtx
