// What threads of a block call to wait for each other.
#include "tests/cuda_on_cpu/block_state.h"

namespace cuda_on_cpu {
namespace {

void wait(Thread& thread) { thread.fiber.give_way(); }

bool is_same_place(const Here& a, const Here& b) {
  return a.line() == b.line() && a.column() == b.column() && std::string(a.file_name()) == b.file_name();
}

[[noreturn]] void fail(const std::string& text) { throw ExecutionError(cudaErrorLaunchFailure, text); }

/// Lets all lanes of a complete meeting go on.
void release(Block& block, const Thread& last, unsigned mask) {
  const unsigned first = last.number / 32 * 32;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1U) == 0 || first + lane == last.number) continue;
    Thread& other = block.threads[first + lane];
    if (other.warp_mask != mask)
      fail(place_of(other) + " has another mask at " + text_of(other.here) + " than " + place_of(last) + " at " +
           text_of(last.here));
    other.waits_for_warp = WarpMeeting::none;
  }
}

}  // namespace

unsigned current_lane() { return running_block().current->number % 32; }
std::byte* dynamic_shared_memory() { return running_block().dynamic_shared; }

void block_barrier(Here here) {
  Block& block = running_block();
  Thread& self = *block.current;
  self.here = here;
  for (const Thread& other : block.threads)
    if (other.waits_at_barrier) {
      if (!is_same_place(other.here, here))
        fail("threads of a block wait at different barriers: " + place_of(other) + " at " + text_of(other.here) + ", " +
             place_of(self) + " at " + text_of(here));
      break;
    }
  if (++block.at_barrier == block.threads.size()) {
    block.at_barrier = 0;
    for (Thread& other : block.threads) other.waits_at_barrier = false;
    return;
  }
  self.waits_at_barrier = true;
  wait(self);
}

const std::byte* warp_exchange(unsigned mask, WarpMeeting kind, const void* mine, std::size_t bytes, Here here) {
  Block& block = running_block();
  Thread& self = *block.current;
  self.here = here;
  const unsigned lane = self.number % 32;
  Warp& warp = block.warps[self.number / 32];
  const std::size_t side = self.warp_meetings++ & 1U;
  if ((mask >> lane & 1U) == 0) fail(place_of(self) + " is not in its own mask at " + text_of(here));
  if (warp.arrived[side] == 0) warp.kind[side] = kind;
  if (warp.kind[side] != kind) fail(place_of(self) + " meets lanes that do something else at " + text_of(here));
  if (bytes > 0) std::memcpy(warp.slots[side] + lane * warp_slot_bytes, mine, bytes);
  warp.arrived[side] |= 1U << lane;
  self.warp_mask = mask;
  if ((warp.arrived[side] & mask) == mask) {
    warp.arrived[side] &= ~mask;
    release(block, self, mask);
  } else {
    self.waits_for_warp = kind;
    wait(self);
  }
  return warp.slots[side];
}

void async_copy(void* to, const void* from, std::size_t bytes) {
  running_block().current->open_copies.push_back({to, from, bytes});
}

void commit_async_copies() {
  Thread& self = *running_block().current;
  self.copy_groups.push_back(std::move(self.open_copies));
  self.open_copies.clear();
}

void wait_for_async_copies(unsigned groups_left) {
  Thread& self = *running_block().current;
  while (self.copy_groups.size() > groups_left) {
    for (const AsyncCopy& copy : self.copy_groups.front()) std::memcpy(copy.to, copy.from, copy.bytes);
    self.copy_groups.erase(self.copy_groups.begin());
  }
}

}  // namespace cuda_on_cpu
