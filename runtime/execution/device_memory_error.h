#pragma once
/// \file device_memory_error.h: a device has no room for what a rank holds.
///
/// Checked against: tests/cuda/training_test.cpp.

#include "core/base/errors.h"

namespace plumbline {

/// The text says what was asked, what for, and what the rank holds already.
class DeviceMemoryError : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

}  // namespace plumbline
