#pragma once
/// \file backend.h: memory for tensors on one rank: bound, counted by class, and given back.
///
/// Model: all memory is the device's. What is bound outside of a step has memory of its own; what is bound in one lies
/// where the step's plan puts it, in an arena that is reserved before (buffer_places.h): a step reserves nothing.
/// Memory that nobody has written holds NaN when `poison` is asked: a kernel that reads it is found. Counters of live
/// bytes read no plan. Not modelled: several arenas.
/// Checked against: tests/runtime/execution/live_bytes_test.cpp, step_memory_threads_test.cpp.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/tensor_view.h"
#include "runtime/execution/buffer_places.h"
#include "runtime/execution/live_bytes.h"

namespace plumbline {

enum class Poison : std::uint8_t { no, yes };

class Backend;

/// Memory that is bound to a tensor until its last holder lets go.
class BoundBuffer {
 public:
  BoundBuffer(Backend& backend, MemoryClass memory_class, Bytes bytes, SizeFrom size, const Place& place);
  BoundBuffer(const BoundBuffer&) = delete;
  BoundBuffer& operator=(const BoundBuffer&) = delete;
  ~BoundBuffer();

  [[nodiscard]] std::byte* data() const { return place_.data; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] MemoryClass memory_class() const { return class_; }
  [[nodiscard]] SizeFrom size_from() const { return size_; }
  /// From here on it counts as another class.
  void count_as(MemoryClass memory_class);

 private:
  Backend& backend_;
  MemoryClass class_;
  Bytes bytes_;
  SizeFrom size_;
  Place place_;
};
using BufferRef = std::shared_ptr<BoundBuffer>;
[[nodiscard]] inline std::span<std::byte> span_of(const BufferRef& buffer) {
  return {buffer->data(), static_cast<std::size_t>(buffer->bytes().value())};
}

class Backend {
 public:
  explicit Backend(ComputeDevice& device, Poison poison = Poison::no)
      : device_(device), poison_(poison), own_(device), places_(&own_) {}
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// `lane`: whose work writes it first. A buffer is given up when the compute lane is done with it, so another lane
  /// waits for that one before it writes to bytes that may have been given up.
  [[nodiscard]] BufferRef bind(MemoryClass memory_class, Bytes bytes, SizeFrom size = SizeFrom::program,
                               Stream lane = Stream::compute);
  /// The same memory for each call of one use; not counted as live.
  [[nodiscard]] Workspace workspace(Bytes bytes, ScratchUse use = ScratchUse::kernel);
  /// Memory for as long as the backend lasts, for what is no tensor: token ids, frequencies, scales, sums of a step.
  /// Not counted as live.
  [[nodiscard]] void* reserve(Bytes bytes);
  [[nodiscard]] LiveBytes& live() { return live_; }

  /// Reserves what the plan needs, if more than there is. Between steps.
  void prepare(const StepPlan& plan);
  /// What is bound from here on lies where the plan puts it.
  void begin_step(const StepPlan& plan);
  void begin_action(std::int32_t action) { places_->begin_action(action); }
  /// Throws InternalError where the step left something bound or reserved memory (but for rows that the routing sent).
  void end_step();
  /// What is bound from here on is noted.
  void record(LifeRecorder& recorder) { places_ = &recorder; }

  [[nodiscard]] const ScratchSizes& scratch_sizes() const { return scratch_sizes_; }
  [[nodiscard]] Bytes workspace_bytes() const;
  /// What the device gave for tensors.
  [[nodiscard]] Bytes arena_bytes() const { return own_.reserved() + arena_size_; }
  /// How often the device was asked for memory.
  [[nodiscard]] std::int64_t reservations() const { return reservations_ + own_.reservations(); }

 private:
  friend class BoundBuffer;

  [[nodiscard]] DeviceMemory reserve_memory(Bytes bytes);

  ComputeDevice& device_;
  Poison poison_;
  LiveBytes live_;
  OwnPlaces own_;
  std::vector<DeviceMemory> reserved_;
  DeviceMemory arena_memory_;
  Bytes arena_size_{0};
  std::optional<StepArena> arena_;  ///< of the step at hand
  BufferPlaces* places_;
  std::array<DeviceMemory, std::tuple_size_v<ScratchSizes>> scratch_;
  ScratchSizes scratch_sizes_{};
  std::int64_t reservations_ = 0;  ///< alongside those of buffers with memory of their own
  std::int64_t reserved_before_ = 0;
  bool may_reserve_ = false;
};

}  // namespace plumbline
