#pragma once
/// \file noise.h: how little of a difference between two plans means anything.

namespace plumbline {

/// Relative standard deviation between repetitions of one run: the steadiest source that repeats itself (NeMo on H100)
/// differs by this.
inline constexpr double repeated_run_noise = 0.01;

}  // namespace plumbline
