#include "tests/cuda_on_cpu/shared_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

// The linker's, of the section that holds all shared variables; null where a program has none.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
extern "C" {
extern char __start_cuda_shared[] __attribute__((weak));
extern char __stop_cuda_shared[] __attribute__((weak));
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace cuda_on_cpu {
namespace {

constexpr std::size_t block_page_bytes = 4096;
constexpr std::size_t room = (most_dynamic_shared + block_page_bytes - 1) / block_page_bytes * block_page_bytes;

std::byte* begin_of_room() {
  static std::byte* const begin = [] {
    void* base = mmap(nullptr, room + block_page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    mprotect(static_cast<std::byte*>(base) + room, block_page_bytes, PROT_NONE);
    return static_cast<std::byte*>(base);
  }();
  return begin;
}

}  // namespace

std::byte* place_dynamic_shared(std::size_t bytes) { return begin_of_room() + room - (bytes + 15) / 16 * 16; }

void forget_shared(std::byte* dynamic, std::size_t bytes) {
  std::memset(dynamic, 0xff, bytes);
  if (__start_cuda_shared != nullptr)
    std::memset(__start_cuda_shared, 0xff, static_cast<std::size_t>(__stop_cuda_shared - __start_cuda_shared));
}

}  // namespace cuda_on_cpu
