#pragma once
/// \file timing.h: how long a call takes on a core of its own, as the median of repetitions.
///
/// Model: the calling thread's processor time, so that a busy computer is not taken for a slow one; calls of which many
/// fit into a microsecond's error of the clock are timed in batches. Not modelled: the
/// distribution; only its median. Checked against: tests/runtime/measure/measure_threads_test.cpp.

#include <functional>
#include <optional>

#include "core/quantity/quantity.h"

namespace plumbline {

/// The calling thread's processor time since it began.
[[nodiscard]] double thread_seconds();

/// Runs it once or twice to warm up, then at least five times, and on until `budget` is spent or 50 times.
[[nodiscard]] Seconds median_time(const std::function<void()>& call, Seconds budget);

/// What `with` takes more than `without`: the median over pairs of calls, one right after the other, so that both meet
/// the same clock and caches. As many pairs as `median_time` times calls. Nothing if the computer is too unsteady to
/// tell them apart.
[[nodiscard]] std::optional<Seconds> median_difference(const std::function<void()>& with,
                                                       const std::function<void()>& without, Seconds budget);

}  // namespace plumbline
