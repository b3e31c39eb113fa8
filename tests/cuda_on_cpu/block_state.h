#pragma once
/// \file block_state.h: the threads and warps of the block that runs, for the files that carry out what threads call.
///
/// Not for tests or kernels. Checked against: tests/cuda_on_cpu/thread_block_test.cpp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/cuda_on_cpu/fiber.h"
#include "tests/cuda_on_cpu/thread_block.h"

namespace cuda_on_cpu {

struct AsyncCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

struct Thread {
  uint3 index;
  unsigned number = 0;  ///< in its block
  Fiber fiber;
  bool has_ended = false;
  bool waits_at_barrier = false;
  WarpMeeting waits_for_warp = WarpMeeting::none;
  unsigned warp_mask = 0;
  std::uint64_t warp_meetings = 0;
  Here here = Here::current();  ///< of its last barrier or warp operation
  std::vector<AsyncCopy> open_copies;
  std::vector<std::vector<AsyncCopy>> copy_groups;

  [[nodiscard]] bool can_run() const { return !has_ended && !waits_at_barrier && waits_for_warp == WarpMeeting::none; }
};

/// Two tables of slots: a lane may already be at the next meeting while others still read the last one's.
struct Warp {
  std::byte slots[2][32 * warp_slot_bytes];
  unsigned arrived[2] = {0, 0};
  WarpMeeting kind[2] = {WarpMeeting::none, WarpMeeting::none};
};

struct Block {
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::size_t alive = 0;
  std::size_t at_barrier = 0;
  Thread* current = nullptr;
  std::byte* dynamic_shared = nullptr;
};

/// Of the grid that runs; grids run one at a time.
Block& running_block();

/// "block (x, y, z) thread (x, y, z)".
std::string place_of(const Thread& thread);
std::string text_of(const Here& here);

}  // namespace cuda_on_cpu
