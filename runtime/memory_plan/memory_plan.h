#pragma once
/// \file memory_plan.h: where every buffer of a rank's program lies, in one arena for each class of memory.
///
/// Answers: offsets and sizes in bytes, found before the first step, so that nothing is allocated inside of one.
/// Model: a life of a buffer is from the action that allocates it to the one that releases it, both included (as in
/// core/simulate/memory_curve.h); persistent buffers live throughout. A slot that lives several times may lie in
/// another place each time. Lives are placed one by one into the smallest gap that holds them, else lowest at the top:
/// by size, in order of allocation, and longest first, each with their own bytes and with those of a slightly larger
/// life; then again, up to 64 times, with the life that lay at the top placed first. The smallest arena stays. Source:
/// Pisarchyk and Lee, "Efficient memory management for deep neural net inference", arXiv:2001.03288, section 5.2
/// (greedy by size). Finding the smallest arena is NP-hard (Garey and Johnson, problem SR2).
/// Not modelled: buffers that share bytes on purpose; moving a buffer while it lives; streams that still read.
/// Checked against: tests/runtime/memory_plan/memory_plan_test.cpp (by hand, and the best of all orders),
/// tests/property/memory_plan_test.cpp (lowered programs: no overlap, distance from the peak of live bytes).

#include <cstdint>
#include <vector>

#include "core/program/program.h"

namespace plumbline {

/// `first` and `last` are actions of the rank; persistent buffers: -1 and the number of actions.
struct BufferLife {
  std::int32_t buffer = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  Bytes bytes{0};
  Bytes offset{0};  ///< in its class's arena
};

struct Arena {
  MemoryClass memory_class = MemoryClass::activations;
  std::vector<BufferLife> lives;  ///< in order of their beginning: the n-th life of a buffer is its n-th allocation
  Bytes size{0};
  Bytes live_peak{0};  ///< most bytes that live at once, unaligned: no arena can be smaller
};

struct MemoryPlan {
  std::vector<Arena> arenas;  ///< of the classes that the program uses

  [[nodiscard]] Bytes size() const;
};

/// What of a rank's program lives when, of all classes, with offsets of 0.
[[nodiscard]] std::vector<BufferLife> buffer_lives(const RankProgram& rank);
/// Gives every life its offset, a multiple of `alignment`, and returns the size of the arena. `lives` are of one class.
[[nodiscard]] Bytes place_lives(std::vector<BufferLife>& lives, Bytes alignment);

/// 256 bytes: what CUDA's allocator promises (CUDA C++ Programming Guide, "Device memory accesses"), and four cache
/// lines of a CPU. Requires a program without buffer faults (core/program/buffer_check.h).
inline constexpr Bytes default_alignment{256};
[[nodiscard]] MemoryPlan plan_memory(const RankProgram& rank, Bytes alignment = default_alignment);

}  // namespace plumbline
