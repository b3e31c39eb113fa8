#pragma once
/// \file fake_nvtx.h: what a profiler would show: ranges of all threads, in the order in which they began.

#include <string>
#include <vector>

namespace fake_nvtx {

struct Range {
  int depth = 0;  ///< of the ranges around it, on its thread
  std::string name;
};

/// Since the last call. Throws where a thread popped more ranges than it pushed, or one is open.
std::vector<Range> take();

}  // namespace fake_nvtx
