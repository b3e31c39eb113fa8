#pragma once
/// \file buffer_places.h: where bound buffers lie: each in memory of its own, or at the places that a step plans.
///
/// Answers: addresses; sizes in bytes. Model: outside of a step a buffer's memory is reserved when it is bound, and
/// serves the next buffer of its size once it was given back. A step's buffers lie in one arena, whatever their class,
/// each where its plan puts it: the n-th buffer that an action binds has the place of the action's n-th life. Sizes
/// that the routing of tokens decides (SizeFrom::routing) are planned as equal shares; a larger one lies outside of the
/// arena, in memory that is kept for the next ones. A place whose bytes another buffer still holds is refused.
/// Source: memory_plan/memory_plan.h. Not modelled: what kernels need as scratch.
/// Checked against: tests/runtime/execution/buffer_places_test.cpp, step_memory_threads_test.cpp.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "runtime/device/compute_device.h"
#include "runtime/memory_plan/memory_plan.h"

namespace plumbline {

/// What decides how large a buffer is: the program, or how many rows other ranks' tokens send to this rank's experts.
enum class SizeFrom : std::uint8_t { program, routing };

/// Memory that is no tensor: scratch of kernels, operands cast for one product, and padded sums on the tensor lane.
enum class ScratchUse : std::uint8_t { kernel, input, weight, gradient, collective };
using ScratchSizes = std::array<Bytes, 5>;  ///< by ScratchUse

/// Where everything lies that a rank binds in a step.
struct StepPlan {
  /// The lives that an action begins: [first, first + count).
  struct Lives {
    std::int32_t first = 0;
    std::int32_t count = 0;
  };
  std::vector<BufferLife> lives;  ///< in the order in which they are bound
  std::vector<Lives> actions;     ///< by action of the rank
  Bytes size{0};                  ///< of the arena
  Bytes live_peak{0};             ///< most bytes that live at once: no arena is smaller
  ScratchSizes scratch{};
  bool depends_on_routing = false;  ///< whether the routing decides some sizes
};

class BufferPlaces;

struct Place {
  std::byte* data = nullptr;
  BufferPlaces* of = nullptr;
  std::int32_t life = -1;  ///< of a step's plan
};

class BufferPlaces {
 public:
  BufferPlaces() = default;
  BufferPlaces(const BufferPlaces&) = delete;
  BufferPlaces& operator=(const BufferPlaces&) = delete;
  virtual ~BufferPlaces() = default;

  virtual void begin_action(std::int32_t) {}
  [[nodiscard]] virtual Place take(Bytes bytes, SizeFrom size) = 0;
  virtual void give_back(const Place& place, Bytes bytes) = 0;
};

/// Memory of its own for each buffer.
class OwnPlaces : public BufferPlaces {
 public:
  explicit OwnPlaces(ComputeDevice& device) : device_(device) {}

  [[nodiscard]] Place take(Bytes bytes, SizeFrom size) override;
  void give_back(const Place& place, Bytes bytes) override { idle_[bytes].push_back(place.data); }
  [[nodiscard]] Bytes reserved() const { return reserved_; }
  [[nodiscard]] std::int64_t reservations() const { return std::ssize(owned_); }

 private:
  ComputeDevice& device_;
  std::vector<DeviceMemory> owned_;
  std::map<Bytes, std::vector<std::byte*>> idle_;
  Bytes reserved_{0};
};

/// Notes when what is bound and given back. A life ends before the next event, so what is bound then may have its
/// place.
class LifeRecorder : public BufferPlaces {
 public:
  explicit LifeRecorder(ComputeDevice& device) : device_(device) {}

  void begin_action(std::int32_t action) override;
  [[nodiscard]] Place take(Bytes bytes, SizeFrom size) override;
  void give_back(const Place& place, Bytes bytes) override;
  /// Places for all lives, of a rank with so many actions.
  [[nodiscard]] StepPlan plan(std::size_t actions) const;

 private:
  ComputeDevice& device_;
  std::vector<DeviceMemory> memory_;
  StepPlan plan_;
  std::int32_t action_ = -1;
  std::int32_t events_ = 0;
};

/// The places of a plan.
class StepArena : public BufferPlaces {
 public:
  /// What the routing makes larger than planned lies in `others`.
  StepArena(const StepPlan& plan, std::byte* memory, OwnPlaces& others)
      : plan_(plan), memory_(memory), others_(others) {}

  void begin_action(std::int32_t action) override;
  /// Throws InternalError where the plan has no such life, or its bytes are in use.
  [[nodiscard]] Place take(Bytes bytes, SizeFrom size) override;
  void give_back(const Place& place, Bytes bytes) override;
  [[nodiscard]] bool is_empty() const { return in_use_.empty(); }

 private:
  void claim(const BufferLife& life);
  [[noreturn]] void fail(const std::string& what) const;

  const StepPlan& plan_;
  std::byte* memory_;
  OwnPlaces& others_;
  std::int32_t action_ = -1;
  std::int32_t bound_ = 0;                       ///< by the action at hand
  std::map<std::int64_t, std::int64_t> in_use_;  ///< first byte to the one behind the last
};

}  // namespace plumbline
