#pragma once
/// \file late_device.h: a device whose lanes work as late as they may: when somebody waits for them.
///
/// What a program does not wait for has not run then, whatever the computer's timing: a need that is missing shows in
/// the numbers of every run. Checked against: tests/runtime/execution/lanes_threads_test.cpp (a need left out is seen).

#include <array>
#include <deque>

#include "runtime/device/host_memory_device.h"

namespace plumbline {

class LateDevice : public HostMemoryDevice {
 public:
  void enqueue(Stream lane, std::function<void()> work) override {
    if (lane == Stream::compute) return work();
    of(lane).waiting.push_back(std::move(work));
  }
  [[nodiscard]] Mark mark(Stream lane) const override {
    const Lane& l = lanes_[static_cast<std::size_t>(lane)];
    return {lane, l.done + std::ssize(l.waiting)};
  }
  void wait(Stream lane, Mark mark) override {
    if (lane != mark.lane) finish(mark);
  }
  void finish(Mark mark) override {
    Lane& lane = of(mark.lane);
    while (lane.done < mark.work) {
      const std::function<void()> work = std::move(lane.waiting.front());
      lane.waiting.pop_front();
      ++lane.done;
      work();
    }
  }
  void finish_all() override {
    for (std::size_t lane = 0; lane < stream_count; ++lane) finish(mark(static_cast<Stream>(lane)));
  }
  void stop() noexcept override {}

 private:
  struct Lane {
    std::deque<std::function<void()>> waiting;
    std::int64_t done = 0;
  };
  [[nodiscard]] Lane& of(Stream lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  std::array<Lane, stream_count> lanes_;
};

}  // namespace plumbline
