#pragma once
/// \file memory_plan.h: where buffers lie that live at different times, in one arena.
///
/// Answers: offsets and a size in bytes, found before the first step, so that nothing is allocated inside of one.
/// Model: a life is from the event that binds a buffer to the last one at which its bytes are in use, both included. A
/// buffer that lives several times may lie in another place each time. Lives are placed in order of their beginning,
/// each into the smallest gap that holds it, else lowest at the top; then, as far as a bounded number of comparisons
/// goes, by size, by time and longest first, each with their own bytes and with those of a slightly larger life, up to
/// 64 times with the life that lay at the top placed first. The smallest arena stays. Source: Pisarchyk and Lee,
/// "Efficient memory management for deep neural net inference", arXiv:2001.03288, section 5.2 (greedy by size). Finding
/// the smallest arena is NP-hard (Garey and Johnson, problem SR2).
/// Not modelled: buffers that share bytes on purpose; moving a buffer while it lives.
/// Checked against: tests/runtime/memory_plan/memory_plan_test.cpp (by hand, and the best of all orders),
/// tests/property/memory_plan_test.cpp (lowered programs: no overlap, distance from the peak of live bytes).

#include <cstdint>
#include <span>
#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

struct BufferLife {
  std::int32_t buffer = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  Bytes bytes{0};
  Bytes offset{0};
};

/// The most bytes that live at once, unaligned: no arena can be smaller.
[[nodiscard]] Bytes live_peak(std::span<const BufferLife> lives);
/// Gives every life its offset, a multiple of `alignment`, and returns the size of the arena.
[[nodiscard]] Bytes place_lives(std::vector<BufferLife>& lives, Bytes alignment);

/// 256 bytes: what CUDA's allocator promises (CUDA C++ Programming Guide, "Device memory accesses"), and four cache
/// lines of a CPU.
inline constexpr Bytes default_alignment{256};

}  // namespace plumbline
