#pragma once
/// \file timing.h: how long a call takes on a core of its own, as the median of repetitions.
///
/// Model: the calling thread's processor time, so that a busy computer is not taken for a slow one; calls of which many
/// fit into a microsecond's error of the clock are timed in batches. Not modelled: the
/// distribution; only its median. Checked against: tests/runtime/measure/measure_threads_test.cpp.

#include <functional>

#include "core/quantity/quantity.h"

namespace plumbline {

/// The calling thread's processor time since it began.
[[nodiscard]] double thread_seconds();

/// Runs it once or twice to warm up, then at least five times, and on until `budget` is spent or 50 times.
[[nodiscard]] Seconds median_time(const std::function<void()>& call, Seconds budget);

}  // namespace plumbline
