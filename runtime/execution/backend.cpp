#include "runtime/execution/backend.h"

#include <algorithm>
#include <new>
#include <numeric>

#include "core/quantity/text.h"
#include "runtime/execution/device_memory_error.h"

namespace plumbline {
namespace {

/// "; it holds 1.20 GiB of weights and 2.40 GiB of optimizer state".
std::string held_text(const MemoryBreakdown& live) {
  std::string text;
  for (std::size_t c = 0; c < memory_class_count; ++c) {
    const auto memory_class = static_cast<MemoryClass>(c);
    if (live[memory_class].value() > 0)
      text += (text.empty() ? "; it holds " : ", ") + to_text(live[memory_class]) + " of " +
              std::string(to_text(memory_class));
  }
  return text;
}

/// What `take` takes, with what it is for where there is no room.
template <class Take>
auto taken_for(const std::string& purpose, const MemoryBreakdown& live, Take take) {
  try {
    return take();
  } catch (const std::bad_alloc& error) {
    throw DeviceMemoryError(std::string(error.what()) + "; asked for " + purpose + held_text(live));
  }
}

}  // namespace

BoundBuffer::BoundBuffer(Backend& backend, MemoryClass memory_class, Bytes bytes, SizeFrom size, const Place& place)
    : backend_(backend), class_(memory_class), bytes_(bytes), size_(size), place_(place) {
  backend_.live_.bind(class_, bytes_);
}

BoundBuffer::~BoundBuffer() {
  backend_.live_.release(class_, bytes_);
  place_.of->give_back(place_, bytes_);
}

void BoundBuffer::count_as(MemoryClass memory_class) {
  backend_.live_.release(class_, bytes_);
  class_ = memory_class;
  backend_.live_.bind(class_, bytes_);
}

BufferRef Backend::bind(MemoryClass memory_class, Bytes bytes, SizeFrom size, Stream lane) {
  const Place place = taken_for(to_text(bytes) + " of " + std::string(to_text(memory_class)), live_.live(),
                                [&] { return places_->take(bytes, size); });
  if (lane != Stream::compute) device_.wait(lane, device_.mark(Stream::compute));
  // All bits set is a NaN in every format.
  if (poison_ == Poison::yes) device_.fill(lane, place.data, std::byte{0xff}, bytes);
  return std::make_shared<BoundBuffer>(*this, memory_class, bytes, size, place);
}

DeviceMemory Backend::reserve_memory(Bytes bytes) {
  ++reservations_;
  return taken_for(to_text(bytes) + " of working memory (activations, gradients and buffers of a step, scratch)",
                   live_.live(), [&] { return device_.reserve(bytes); });
}

Workspace Backend::workspace(Bytes bytes, ScratchUse use) {
  const auto u = static_cast<std::size_t>(use);
  if (scratch_[u] == nullptr || bytes > scratch_sizes_[u]) {
    scratch_[u] = reserve_memory(bytes);
    scratch_sizes_[u] = bytes;
  }
  return {scratch_[u].get(), bytes};
}

Bytes Backend::workspace_bytes() const {
  return std::accumulate(scratch_sizes_.begin(), scratch_sizes_.end(), Bytes(0));
}

void* Backend::reserve(Bytes bytes) { return reserved_.emplace_back(reserve_memory(bytes)).get(); }

void Backend::prepare(const StepPlan& plan) {
  for (std::size_t use = 0; use < plan.scratch.size(); ++use)
    (void)workspace(std::max(plan.scratch[use], scratch_sizes_[use]), static_cast<ScratchUse>(use));
  if (plan.size <= arena_size_) return;
  arena_memory_ = nullptr;  // before more is asked for
  arena_memory_ = reserve_memory(plan.size);
  arena_size_ = plan.size;
}

void Backend::begin_step(const StepPlan& plan) {
  prepare(plan);
  arena_.emplace(plan, arena_memory_.get(), own_);
  places_ = &*arena_;
  reserved_before_ = reservations();
  may_reserve_ = plan.depends_on_routing;
}

void Backend::end_step() {
  check(arena_.has_value() && arena_->is_empty(), "what a step binds is given back in it");
  check(may_reserve_ || reservations() == reserved_before_, "a step reserves no memory");
  places_ = &own_;
}

}  // namespace plumbline
