#pragma once
/// \file thread_block.h: the threads of a CUDA block as fibers of one host thread, block after block.
///
/// Model: a fiber runs until it waits for others; the order of fibers is a setting, so that shared memory that is read
/// without a barrier holds other values in another order. Reported with file and line, as an ExecutionError: barriers
/// that not all threads of a block reach, or that are not the same one; warp operations whose lanes differ in mask or
/// kind, or of which one has ended; accesses outside of memory, with block and thread. Shared memory holds NaNs when a
/// block begins; dynamic shared memory ends at a guard page; asynchronous copies are carried out as late as allowed.
/// Source: CUDA C++ Programming Guide 13.0, sections 10.6 (barriers), 10.22 (shuffles); PTX ISA 9.0, "cp.async".
/// Not modelled: the memory model between blocks, thread block clusters, wgmma, TMA, mbarrier, speed.
/// Checked against: tests/cuda_on_cpu/thread_block_test.cpp.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>
#include <stdexcept>

namespace cuda_on_cpu {

#ifdef __cpp_lib_source_location
using Here = std::source_location;
#else
/// For clang before 16: reports name no place.
struct Here {
  static constexpr Here current() { return {}; }
  [[nodiscard]] constexpr const char* file_name() const { return "unknown"; }
  [[nodiscard]] constexpr const char* function_name() const { return "unknown"; }
  [[nodiscard]] constexpr unsigned line() const { return 0; }
  [[nodiscard]] constexpr unsigned column() const { return 0; }
};
#endif

struct ExecutionError : std::runtime_error {
  ExecutionError(cudaError_t what, const std::string& text) : std::runtime_error(text), code(what) {}
  cudaError_t code;
};

/// Runs all blocks of a grid; `body` is what a thread does.
void run_grid(dim3 grid, dim3 block, std::size_t dynamic_shared_bytes, const std::function<void()>& body);

// What follows is called by a kernel's threads.

unsigned current_lane();
std::byte* dynamic_shared_memory();

void block_barrier(Here here);

enum class WarpMeeting : std::uint8_t { none, shuffle, vote, barrier, matrix_product, matrix_load };
inline constexpr std::size_t warp_slot_bytes = 64;
/// All lanes of `mask` bring up to 64 bytes; returns the warp's 32 slots, valid until the lane's meeting after the
/// next.
const std::byte* warp_exchange(unsigned mask, WarpMeeting kind, const void* mine, std::size_t bytes, Here here);

template <class T>
T from_lane(const std::byte* slots, unsigned lane) {
  static_assert(sizeof(T) <= warp_slot_bytes);
  T value;
  std::memcpy(&value, slots + lane * warp_slot_bytes, sizeof value);
  return value;
}

void async_copy(void* to, const void* from, std::size_t bytes);
void commit_async_copies();
/// Returns once at most `groups_left` of the thread's latest groups are still under way.
void wait_for_async_copies(unsigned groups_left);

}  // namespace cuda_on_cpu
