#pragma once
/// \file segments.h: segments of neighbouring layers that are each replayed from their input, once.
///
/// Answers the least picoseconds of replay per micro-batch and the segments, or nothing when none fits. Model: a layer
/// is kept whole or lies in a segment that keeps its input alone and is replayed at once; a stage holds
/// in_flight * (kept layers + inputs of segments) + the largest segment, replayed. For every cap on a segment,
/// non-dominated (bytes, time) per position: exact.
/// Source: Chen et al., arXiv:1604.06174 (single-level segments), with in-flight micro-batches; what frameworks export
/// as "every n layers".
/// Not modelled: that the last segment before the loss needs no replay (count it as kept).
/// Checked against: tests/reference/oracles/recompute_oracles_test.cpp (seg-*), exact.

#include <optional>
#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

struct SegmentLayer {
  Bytes input{0};  ///< what a segment that starts here keeps
  Bytes kept{0};   ///< when nothing of it is recomputed
  Picoseconds forward{0};
};
/// Layers [first, last).
struct CheckpointSegment {
  std::int32_t first = 0;
  std::int32_t last = 0;
  bool operator==(const CheckpointSegment&) const = default;
};
struct SegmentChoice {
  Picoseconds time{0};
  Bytes held{0};
  std::vector<CheckpointSegment> replayed;  ///< in order; the other layers are kept
};
[[nodiscard]] std::optional<SegmentChoice> choose_segments(const std::vector<SegmentLayer>& layers,
                                                           std::int64_t in_flight, Bytes memory);

}  // namespace plumbline
