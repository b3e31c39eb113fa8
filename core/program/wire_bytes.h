#pragma once
/// \file wire_bytes.h: bytes that one rank sends while it runs blocks, by the group that it sends in.
///
/// Sums of wire_bytes (core/sharding/collective.h) over the sends of a pass (block_sends.h). Checked against:
/// tests/property/block_cost_test.cpp (closed forms); tests/runtime/execution (executed counters, exact).

#include "core/program/block_axis.h"
#include "core/quantity/quantity.h"

namespace plumbline {

struct WireBytes {
  Bytes tensor{0};
  Bytes context{0};
  Bytes expert{0};

  [[nodiscard]] Bytes& operator[](BlockAxis axis) {
    if (axis == BlockAxis::tensor) return tensor;
    return axis == BlockAxis::context ? context : expert;
  }
  [[nodiscard]] Bytes operator[](BlockAxis axis) const {
    if (axis == BlockAxis::tensor) return tensor;
    return axis == BlockAxis::context ? context : expert;
  }
  WireBytes& operator+=(const WireBytes& other) {
    tensor += other.tensor;
    context += other.context;
    expert += other.expert;
    return *this;
  }
  [[nodiscard]] WireBytes operator+(WireBytes other) const { return other += *this; }
  [[nodiscard]] WireBytes operator*(std::int64_t count) const {
    return {tensor * count, context * count, expert * count};
  }
  bool operator==(const WireBytes&) const = default;
};

/// The same, pass by pass.
struct PassWires {
  WireBytes forward;
  WireBytes backward;   ///< without recompute
  WireBytes recompute;  ///< before the backward
};

}  // namespace plumbline
