#pragma once
/// \file profiler_ranges.h: ranges of the host's thread that NVIDIA's profilers show (NVTX).
///
/// Model: NVTX 3 is headers alone, which load what a profiler names in NVTX_INJECTION64_PATH; without the toolkit's
/// headers there are no ranges. They are pushed where that variable, or PLUMBLINE_NVTX, is set: naming costs the host
/// time. Source: NVTX 3.1, README, "How do I use NVTX in my code?". Checked against:
/// tests/cuda/profiler_ranges_test.cpp.

namespace plumbline {

[[nodiscard]] bool ranges_are_asked_for();
void push_profiler_range(const char* name);
void pop_profiler_range();

}  // namespace plumbline
