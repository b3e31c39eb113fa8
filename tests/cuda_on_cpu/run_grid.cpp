// The blocks of a grid one after another, and in each the threads as long as one of them can go on.
#include <algorithm>
#include <exception>
#include <numeric>
#include <random>
#include <utility>

#include "tests/cuda_on_cpu/block_state.h"
#include "tests/cuda_on_cpu/faults.h"
#include "tests/cuda_on_cpu/run_settings.h"
#include "tests/cuda_on_cpu/shared_memory.h"

// NOLINTBEGIN(readability-identifier-naming): CUDA's names
uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;
// NOLINTEND(readability-identifier-naming)

namespace cuda_on_cpu {
namespace {

/// The grid that runs. Kept from grid to grid, and so from a grid that failed.
struct Grid {
  Block block;
  const std::function<void()>* body = nullptr;
  std::exception_ptr failure;
  std::vector<unsigned> order;  ///< of the block's threads
  std::mt19937 random;
};
Grid& grid() {
  static auto* only = new Grid;
  return *only;
}

void run_thread(void* argument) {
  auto* self = static_cast<Thread*>(argument);
  try {
    (*grid().body)();
    commit_async_copies();
    wait_for_async_copies(0);
  } catch (...) {
    grid().failure = std::current_exception();
  }
  self->has_ended = true;
  --grid().block.alive;
  self->fiber.give_way();
}

void begin_threads() {
  Block& block = grid().block;
  block.alive = block.threads.size();
  block.at_barrier = 0;
  for (Warp& warp : block.warps) warp.arrived[0] = warp.arrived[1] = 0;
  for (Thread& thread : block.threads) {
    thread.has_ended = thread.waits_at_barrier = false;
    thread.waits_for_warp = WarpMeeting::none;
    thread.warp_meetings = 0;
    thread.open_copies.clear();
    thread.copy_groups.clear();
    thread.fiber.start(run_thread, &thread);
  }
}

/// Each thread that can go on does so until it waits or ends. Whether any could.
bool run_round() {
  Grid& g = grid();
  bool has_moved = false;
  for (const unsigned number : g.order) {
    Thread& thread = g.block.threads[number];
    if (!thread.can_run()) continue;
    g.block.current = &thread;
    threadIdx = thread.index;
    thread.fiber.resume();
    has_moved = true;
    if (g.failure) std::rethrow_exception(std::exchange(g.failure, nullptr));
  }
  return has_moved;
}

[[noreturn]] void report_standstill() {
  constexpr int most = 4;
  const Block& block = grid().block;
  std::string text = "no thread of the block can go on:";
  int shown = 0;
  for (const Thread& thread : block.threads)
    if (!thread.has_ended && shown++ < most)
      text += "\n  " + place_of(thread) + " waits in " + thread.here.function_name() + " at " + text_of(thread.here);
  text += "\n  " + std::to_string(block.alive) + " wait, " + std::to_string(block.threads.size() - block.alive) +
          " have ended";
  throw ExecutionError(cudaErrorLaunchFailure, text);
}

void run_block() {
  Grid& g = grid();
  begin_threads();
  while (g.block.alive > 0) {
    if (run_settings().thread_order == ThreadOrder::shuffled) std::shuffle(g.order.begin(), g.order.end(), g.random);
    if (!run_round()) report_standstill();
  }
}

uint3 place_in(dim3 size, std::uint64_t number) {
  const std::uint64_t row = number / size.x;
  return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(row % size.y),
          static_cast<unsigned>(row / size.y)};
}

void prepare_threads(dim3 dim) {
  Grid& g = grid();
  const std::size_t count = std::size_t{dim.x} * dim.y * dim.z;
  for (Thread& thread : g.block.threads) thread.fiber.drop();
  g.block.threads.resize(count);
  g.block.warps.resize((count + 31) / 32);
  g.order.resize(count);
  std::iota(g.order.begin(), g.order.end(), 0U);
  if (run_settings().thread_order == ThreadOrder::reverse) std::reverse(g.order.begin(), g.order.end());
  for (unsigned number = 0; number < count; ++number) {
    g.block.threads[number].index = place_in(dim, number);
    g.block.threads[number].number = number;
  }
}

std::vector<std::uint64_t> order_of_blocks(std::uint64_t count) {
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  if (run_settings().thread_order == ThreadOrder::reverse) std::reverse(order.begin(), order.end());
  if (run_settings().thread_order == ThreadOrder::shuffled) std::shuffle(order.begin(), order.end(), grid().random);
  return order;
}

}  // namespace

Block& running_block() { return grid().block; }

std::string place_of(const Thread& thread) {
  const auto text = [](const uint3& at) {
    return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) + ")";
  };
  return "block " + text(blockIdx) + " thread " + text(thread.index);
}

std::string text_of(const Here& here) { return std::string(here.file_name()) + ":" + std::to_string(here.line()); }

void run_grid(dim3 size, dim3 block, std::size_t dynamic_shared_bytes, const std::function<void()>& body) {
  Grid& g = grid();
  g.body = &body;
  g.failure = nullptr;
  g.random.seed(run_settings().seed);
  gridDim = size;
  blockDim = block;
  prepare_threads(block);
  g.block.dynamic_shared = place_dynamic_shared(dynamic_shared_bytes);
  const std::vector<std::uint64_t> order = order_of_blocks(std::uint64_t{size.x} * size.y * size.z);
  const bool is_complete = run_watching_for_faults([&] {
    for (const std::uint64_t number : order) {
      blockIdx = place_in(size, number);
      forget_shared(g.block.dynamic_shared, dynamic_shared_bytes);
      run_block();
    }
  });
  if (!is_complete)
    throw ExecutionError(cudaErrorIllegalAddress,
                         place_of(*g.block.current) + " accesses an address outside of memory");
}

}  // namespace cuda_on_cpu
