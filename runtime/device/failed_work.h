#pragma once
/// \file failed_work.h: marks exceptions about work that a device was given earlier.
///
/// Model: the call that throws only found the failure; what failed is among the work that is not known to be done.
/// Checked against: tests/cuda/failed_actions_test.cpp.

namespace plumbline {

class FailedWork {
 public:
  FailedWork() = default;
  FailedWork(const FailedWork&) = default;
  FailedWork& operator=(const FailedWork&) = default;
  virtual ~FailedWork() = default;
};

}  // namespace plumbline
