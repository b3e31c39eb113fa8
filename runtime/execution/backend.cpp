#include "runtime/execution/backend.h"

#include <cstring>
#include <new>

namespace plumbline {
namespace {

/// Kernels ask for 64 bytes (kernels/tensor_view.h, Workspace).
constexpr std::align_val_t alignment{64};

}  // namespace

BoundBuffer::BoundBuffer(Backend& backend, MemoryClass memory_class, Bytes bytes)
    : backend_(backend), class_(memory_class), bytes_(bytes), data_(backend.take(bytes)) {
  backend_.live_.bind(class_, bytes_);
}

BoundBuffer::~BoundBuffer() {
  backend_.live_.release(class_, bytes_);
  backend_.give_back(data_, bytes_);
}

void BoundBuffer::count_as(MemoryClass memory_class) {
  backend_.live_.release(class_, bytes_);
  class_ = memory_class;
  backend_.live_.bind(class_, bytes_);
}

void Backend::Aligned::operator()(std::byte* memory) const { ::operator delete(memory, alignment); }

Backend::Memory Backend::allocate(Bytes bytes) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(64, bytes.value()));
  return Memory(static_cast<std::byte*>(::operator new(size, alignment)));
}

std::byte* Backend::take(Bytes bytes) {
  std::vector<std::byte*>& idle = idle_[bytes];
  if (idle.empty()) {
    owned_.push_back(allocate(bytes));
    arena_ += bytes;
    idle.push_back(owned_.back().get());
  }
  std::byte* data = idle.back();
  idle.pop_back();
  // All bits set is a NaN in every format.
  if (poison_ == Poison::yes) std::memset(data, 0xff, static_cast<std::size_t>(bytes.value()));
  return data;
}

void Backend::give_back(std::byte* data, Bytes bytes) { idle_[bytes].push_back(data); }

Workspace Backend::workspace(Bytes bytes, ScratchUse use) {
  Scratch& scratch = scratch_[static_cast<std::size_t>(use)];
  if (bytes > scratch.size) {
    scratch.memory = allocate(bytes);
    scratch.size = bytes;
  }
  return {scratch.memory.get(), bytes};
}

}  // namespace plumbline
