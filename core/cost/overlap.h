#pragma once
/// \file overlap.h: how long compute and communication take that start together on one device.
///
/// Answers picoseconds. Model: while both run, each takes longer by a factor 1 + slowdown, which is at most 2; the one
/// that is left goes on at its own pace. So both have ended after max(compute + slowdown communication, communication +
/// slowdown compute): what a simulation of two streams gives (core/simulate), and linear in segments.
/// Source: docs/decisions/0007-streams-not-norms.md. Not modelled: a slowdown of its own for each side, or kernel.
/// Checked against: tests/unit/core/cost/overlap_test.cpp, by hand; tests/property/simulation_agreement_test.cpp.

#include <algorithm>

#include "core/quantity/quantity.h"

namespace plumbline {

/// The part `fraction` of a time.
[[nodiscard]] inline Picoseconds part(Picoseconds whole, double fraction) {
  return Picoseconds(std::llround(static_cast<double>(whole.value()) * fraction));
}

struct Overlapped {
  Picoseconds compute_end{0};
  Picoseconds end{0};  ///< of both
};

[[nodiscard]] inline Overlapped overlapped(Picoseconds compute, Picoseconds communication, double slowdown) {
  const Picoseconds lost = part(std::min(compute, communication), slowdown);
  return {compute + lost, std::max(compute, communication) + lost};
}

}  // namespace plumbline
