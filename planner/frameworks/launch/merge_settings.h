#pragma once
/// \file merge_settings.h: settings that several files of one run say together.
///
/// A run of some frameworks is spread over a file of settings and the line that launches it (DeepSpeed, Accelerate).
/// Checked against: tests/unit/planner/frameworks/launch/merge_settings_test.cpp.

#include "planner/frameworks/launch/launch_settings.h"

namespace plumbline {

/// What `settings` leaves empty is taken from `more`.
void fill_missing(LaunchSettings& settings, const LaunchSettings& more);

}  // namespace plumbline
