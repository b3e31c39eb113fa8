#pragma once
/// \file cpu_device.h: lanes of this computer's CPU: in order on the calling thread, or each on a thread of its own.
///
/// Model: the compute lane is the calling thread, so its work has run when `enqueue` returns. Without threads that
/// holds for every lane. With threads each other lane has one, started with its first work. Results do not depend on
/// it: what must not run at the same time is held apart by marks. Source: compute_device.h. Not modelled: several
/// threads that enqueue; one rank's thread does. Checked against: tests/runtime/device/cpu_device_threads_test.cpp,
/// tests/runtime/execution/lanes_threads_test.cpp.

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/found_by_name.h"
#include "runtime/device/host_memory_device.h"

namespace plumbline {

enum class LaneThreads : std::uint8_t { none, one_per_lane };
inline constexpr std::array all_lane_threads{LaneThreads::none, LaneThreads::one_per_lane};
/// As flags name it.
[[nodiscard]] constexpr std::string_view to_text(LaneThreads threads) {
  return threads == LaneThreads::none ? "in-order" : "threads";
}
[[nodiscard]] constexpr std::optional<LaneThreads> lane_threads_from_text(std::string_view text) {
  return value_named(all_lane_threads, text);
}

class CpuDevice : public HostMemoryDevice {
 public:
  explicit CpuDevice(LaneThreads threads = LaneThreads::none);
  ~CpuDevice() override;

  void enqueue(Stream lane, std::function<void()> work) override;
  [[nodiscard]] Mark mark(Stream lane) const override;
  void wait(Stream lane, Mark mark) override;
  void finish(Mark mark) override;
  void finish_all() override;
  void stop() noexcept override;

 private:
  class Lane;
  [[nodiscard]] bool has_thread(Stream lane) const {
    return threads_ == LaneThreads::one_per_lane && lane != Stream::compute;
  }
  void pass(Mark mark);
  [[nodiscard]] Lane& of(Stream lane) { return *lanes_[static_cast<std::size_t>(lane)]; }

  LaneThreads threads_;
  std::array<std::unique_ptr<Lane>, stream_count> lanes_;  ///< none for those without a thread
};

}  // namespace plumbline
