#include "tests/cuda_on_cpu/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "tests/cuda_on_cpu/streams.h"

namespace cuda_on_cpu {
namespace {

constexpr std::size_t arena_page_bytes = 4096;
constexpr std::size_t region = std::size_t{1} << 37;
constexpr int slack_pattern = 0xa5;

}  // namespace

DeviceMemory::DeviceMemory() : key_(pkey_alloc(0, PKEY_DISABLE_ACCESS)) {
  void* base = mmap(nullptr, region, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(base);
}

std::size_t DeviceMemory::free_place(std::size_t pages) const {
  std::size_t at = arena_page_bytes;
  for (const auto& [begin, place] : places_) {
    if (begin >= at + pages + arena_page_bytes) break;
    at = begin + place.pages + arena_page_bytes;
  }
  return at;
}

std::size_t DeviceMemory::in_whole_pieces(std::size_t bytes) const {
  return (bytes + taken.granularity - 1) / taken.granularity * taken.granularity;
}

void DeviceMemory::make_context(int device) {
  if (contexts_.insert(device).second) take(device, taken.context);
}

void DeviceMemory::load_kernel(int device, const void* kernel) {
  if (kernels_.emplace(device, kernel).second) take(device, taken.kernel);
}

void* DeviceMemory::allocate(std::size_t bytes) {
  const int device = current_device();
  make_context(device);
  if (bytes > capacity || used(device) + in_whole_pieces(bytes) > capacity) return nullptr;
  const std::size_t pages =
      (std::max(bytes, std::size_t{1}) + arena_page_bytes - 1) / arena_page_bytes * arena_page_bytes;
  const std::size_t at = free_place(pages);
  if (at + pages + arena_page_bytes > region) return nullptr;
  const std::size_t aligned = (bytes + alignment - 1) / alignment * alignment;
  const Place place{pages, pages - std::min(pages, aligned), bytes, device};
  places_[at] = place;
  const bool was_open = is_open_;
  close();  // so that opening opens the new place too
  if (has_key()) pkey_mprotect(base_ + at, pages, PROT_READ | PROT_WRITE, key_);
  open();
  std::memset(base_ + at, 0xff, pages);
  std::memset(base_ + at + place.offset + bytes, slack_pattern, pages - place.offset - bytes);
  if (!was_open) close();
  allocated_ += bytes;
  take(device, in_whole_pieces(bytes));
  return base_ + at + place.offset;
}

bool DeviceMemory::has_slack_pattern(std::size_t at, const Place& place) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(base_ + at);
  return std::all_of(bytes + place.offset + place.bytes, bytes + place.pages,
                     [](unsigned char byte) { return byte == slack_pattern; });
}

DeviceMemory::Freed DeviceMemory::release(void* pointer) {
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(pointer) - base_);
  const auto found = places_.find(offset / arena_page_bytes * arena_page_bytes);
  if (found == places_.end() || found->first + found->second.offset != offset) return Freed::unknown_address;
  std::byte* pages = base_ + found->first;
  const bool was_open = is_open_;
  open();
  const bool is_whole = has_slack_pattern(found->first, found->second);
  madvise(pages, found->second.pages, MADV_DONTNEED);
  if (!was_open) close();
  mprotect(pages, found->second.pages, PROT_NONE);
  allocated_ -= found->second.bytes;
  used_[found->second.device] -= in_whole_pieces(found->second.bytes);
  places_.erase(found);
  return is_whole ? Freed::yes : Freed::was_overrun;
}

void DeviceMemory::release_all() {
  while (!places_.empty()) release(base_ + places_.begin()->first + places_.begin()->second.offset);
  used_.clear();
  contexts_.clear();
  kernels_.clear();
}

void DeviceMemory::open() {
  const bool was_open = std::exchange(is_open_, true);
  if (has_key()) {
    pkey_set(key_, 0);  // also where it was open: a fault's handler begins without rights, and leaves so
    return;
  }
  if (was_open) return;
  for (const auto& [at, place] : places_) mprotect(base_ + at, place.pages, PROT_READ | PROT_WRITE);
}

void DeviceMemory::close() {
  if (has_key()) {
    is_open_ = false;
    pkey_set(key_, PKEY_DISABLE_ACCESS);
    return;
  }
  if (!std::exchange(is_open_, false) || places_.empty()) return;
  const auto& [last, place] = *places_.rbegin();
  mprotect(base_, last + place.pages, PROT_NONE);  // guard pages are closed anyway: one call for all
}

bool DeviceMemory::holds(const void* pointer, std::size_t bytes) const {
  const auto* byte = static_cast<const std::byte*>(pointer);
  if (byte < base_ || byte >= base_ + region) return false;
  const auto offset = static_cast<std::size_t>(byte - base_);
  auto after = places_.upper_bound(offset);
  if (after == places_.begin()) return false;
  --after;
  const std::size_t begin = after->first + after->second.offset;
  return offset >= begin && offset + bytes <= begin + after->second.bytes;
}

}  // namespace cuda_on_cpu
