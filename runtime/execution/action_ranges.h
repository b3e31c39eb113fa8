#pragma once
/// \file action_ranges.h: steps and actions as ranges that a profiler shows.
///
/// Answers: "step 3", and inside of it "12: forward 2 of chunk 0" with the action's number in the program, by which
/// records name it too. Model: what the host gives to the device while it issues an action; nothing is named where no
/// profiler looks. Checked against: tests/cuda/profiler_ranges_test.cpp.

#include <string>
#include <vector>

#include "core/program/program.h"
#include "runtime/device/compute_device.h"

namespace plumbline {

/// Shown while it lives.
class NamedRange {
 public:
  /// `device`: nothing where no profiler looks.
  NamedRange(ComputeDevice* device, const std::string& name) : device_(device) {
    if (device_ != nullptr) device_->begin_range(name);
  }
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;
  ~NamedRange() {
    if (device_ != nullptr) device_->end_range();
  }

 private:
  ComputeDevice* device_;
};

class ActionRanges {
 public:
  ActionRanges(const RankProgram& rank, ComputeDevice& device) : device_(device.shows_ranges() ? &device : nullptr) {
    names_.resize(rank.actions.size());
    if (device_ == nullptr) return;
    for (std::size_t i = 0; i < names_.size(); ++i) names_[i] = std::to_string(i) + ": " + to_text(rank.actions[i]);
  }

  [[nodiscard]] NamedRange step(std::int64_t number) const {
    return {device_, device_ != nullptr ? "step " + std::to_string(number) : ""};
  }
  [[nodiscard]] NamedRange action(std::int32_t index) const {
    return {device_, names_[static_cast<std::size_t>(index)]};
  }

 private:
  ComputeDevice* device_;
  std::vector<std::string> names_;  ///< by action
};

}  // namespace plumbline
