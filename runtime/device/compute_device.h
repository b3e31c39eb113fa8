#pragma once
/// \file compute_device.h: what a rank computes on: its kernels, lanes of work that run alongside each other, and
/// marks.
///
/// Answers: what runs an operator; order and time of work; memory. Model: a lane runs its work in the order in which
/// it was enqueued. Lanes are those of core/program's streams. A mark is behind everything that its lane was given
/// before it; a lane or the host waits until it is passed. Work that throws fails its lane: what is behind it does not
/// run, and whoever waits for the lane gets the exception. What tensors hold lies in the device's memory and is reached
/// by its work alone; a communicator's call on such memory is work of a lane too. Source: CUDA's streams and events
/// (CUDA C++ Programming Guide, "Asynchronous Concurrent Execution"). Not modelled: priorities of lanes; work that
/// waits for another device. Checked against: tests/runtime/device/cpu_device_threads_test.cpp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/program/program.h"
#include "runtime/device/device_use.h"
#include "runtime/device/work_graph.h"

namespace plumbline {

struct DeviceKernels;

/// Bytes of a device's memory, until the last holder lets go.
using DeviceMemory = std::shared_ptr<std::byte>;

/// How far a lane has come: behind its first `work` pieces of work.
struct Mark {
  Stream lane = Stream::compute;
  std::int64_t work = 0;
  std::int64_t time = -1;  ///< of a timed mark: which of the device's
};

/// Between two timed marks.
struct TimedSpan {
  Mark begin;
  Mark end;
};

class ComputeDevice {
 public:
  ComputeDevice() = default;
  ComputeDevice(const ComputeDevice&) = delete;
  ComputeDevice& operator=(const ComputeDevice&) = delete;
  virtual ~ComputeDevice() = default;

  [[nodiscard]] virtual const DeviceKernels& kernels() const = 0;
  /// At least one byte, aligned to 256; what it holds means nothing. Throws std::bad_alloc where there is no room.
  [[nodiscard]] virtual DeviceMemory reserve(Bytes bytes) = 0;
  /// The same of the host's memory, for what leaves the device and comes back (page-locked where that makes a
  /// difference).
  [[nodiscard]] virtual DeviceMemory reserve_host(Bytes bytes) = 0;
  /// What was taken of the device's memory so far; nothing for devices that use the host's.
  [[nodiscard]] virtual std::optional<DeviceUse> memory_use() const { return std::nullopt; }
  virtual void enqueue(Stream lane, std::function<void()> work) = 0;
  [[nodiscard]] virtual Mark mark(Stream lane) const = 0;
  /// A mark that remembers when its lane passed it.
  [[nodiscard]] virtual Mark timed_mark(Stream lane) = 0;
  /// Between two timed marks, in nanoseconds. Whoever asks has waited for what is behind them, or returns once they are
  /// passed; a mark that the caller itself keeps from being passed is an InternalError.
  [[nodiscard]] virtual std::int64_t elapsed_ns(const Mark& from, const Mark& to) const = 0;
  /// The time in which the last message was sent, if messages have streams of their own, which the sending lane does
  /// not wait for. None if no message was sent since the last call, or if it was sent on the lane itself.
  [[nodiscard]] virtual std::optional<TimedSpan> taken_message() { return std::nullopt; }
  /// Timed marks so far may be forgotten. All are passed.
  virtual void forget_times() = 0;
  // Work of a lane on the device's memory. Ranges do not overlap; `upload`, `download` and `fetch` have one end in the
  // host's.
  virtual void copy(Stream lane, void* to, const void* from, Bytes bytes) = 0;
  virtual void fill(Stream lane, void* to, std::byte value, Bytes bytes) = 0;
  /// The host's memory may change as soon as the call returns.
  virtual void upload(Stream lane, void* to, const void* from, Bytes bytes) = 0;
  /// The host's memory is written once the lane has come so far, and stays where it is until then.
  virtual void download(Stream lane, void* to, const void* from, Bytes bytes) = 0;
  /// The host's memory is read once the lane has come so far, and stays as it is until then.
  virtual void fetch(Stream lane, void* to, const void* from, Bytes bytes) = 0;
  /// What `lane` is given from here on runs once the mark is passed.
  virtual void wait(Stream lane, Mark mark) = 0;
  /// Returns once the mark is passed. Throws what its lane threw.
  virtual void finish(Mark mark) = 0;
  /// Whether the mark is known to be passed without asking the device, which no longer answers after a failure.
  [[nodiscard]] virtual bool is_known_passed(const Mark&) const { return false; }
  /// The same as `finish`, of everything that any lane was given.
  virtual void finish_all() = 0;
  /// Waits like `finish_all`. A device that reports failures late waits for one mark at a time and calls `before` with
  /// its index first, so that the caller knows which work failed; other devices wait once and never call it.
  virtual void finish_in_turn(std::span<const Mark>, const std::function<void(std::size_t)>& /*before*/) {
    finish_all();
  }
  /// Whether a profiler shows ranges.
  [[nodiscard]] virtual bool shows_ranges() const { return false; }
  // What the calling thread gives its lanes from one to the other, as a profiler names it. Ranges may be nested.
  virtual void begin_range(const std::string&) {}
  virtual void end_range() {}
  /// A record of what its lanes are given; null where it makes none. The device outlives it.
  [[nodiscard]] virtual std::unique_ptr<WorkGraph> make_graph() { return nullptr; }
  /// Work that has not begun never runs. Returns when no lane works; what it was given may then go.
  virtual void stop() noexcept = 0;
};

}  // namespace plumbline
