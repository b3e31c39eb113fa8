#pragma once
/// \file device_memory.h: the device's memory. Not for tests or kernels.
///
/// Model: one range of addresses; an allocation takes whole pages with a guard page behind it, and lies at their end.
/// Closed, nobody may touch it. Where the processor has protection keys, it is opened for the calling thread alone,
/// which takes some nanoseconds; elsewhere for all threads, by a call of the kernel that visits every page. Bytes
/// between an allocation's end and its guard page hold a pattern that is checked when it is freed. Source: pkeys(7).
/// Checked against: tests/cuda_on_cpu/memory_test.cpp.

#include <cstddef>
#include <map>
#include <set>

#include "tests/cuda_on_cpu/control.h"

namespace cuda_on_cpu {

class DeviceMemory {
 public:
  DeviceMemory();

  /// Of the host thread's device. Null where there is no room.
  void* allocate(std::size_t bytes);
  enum class Freed { yes, unknown_address, was_overrun };
  Freed release(void* pointer);
  void release_all();

  /// Whether kernels and copies may touch it. Whoever opens it closes it on the same thread.
  void open();
  void close();

  [[nodiscard]] bool holds(const void* pointer, std::size_t bytes) const;
  [[nodiscard]] std::size_t allocated() const { return allocated_; }

  /// What is no allocation: contexts, kernels, libraries.
  void make_context(int device);
  void load_kernel(int device, const void* kernel);
  void take(int device, std::size_t bytes) { used_[device] += bytes; }
  /// Of one device, with all of these.
  [[nodiscard]] std::size_t used(int device) { return used_[device]; }

  std::size_t capacity = std::size_t{1} << 30;
  std::size_t alignment = 256;
  MemoryTaken taken;

 private:
  struct Place {
    std::size_t pages = 0;  ///< in bytes
    std::size_t offset = 0;
    std::size_t bytes = 0;
    int device = 0;
  };
  [[nodiscard]] std::size_t in_whole_pieces(std::size_t bytes) const;
  [[nodiscard]] bool has_key() const { return key_ > 0; }
  [[nodiscard]] std::size_t free_place(std::size_t pages) const;
  [[nodiscard]] bool has_slack_pattern(std::size_t at, const Place& place) const;

  int key_ = 0;  ///< of its pages; none below 1
  std::byte* base_ = nullptr;
  std::map<std::size_t, Place> places_;  ///< by the offset of their first page
  std::size_t allocated_ = 0;
  std::map<int, std::size_t> used_;  ///< by device
  std::set<int> contexts_;
  std::set<std::pair<int, const void*>> kernels_;  ///< that are loaded
  bool is_open_ = false;
};

}  // namespace cuda_on_cpu
