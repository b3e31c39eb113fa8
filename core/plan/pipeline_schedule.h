#pragma once
/// \file pipeline_schedule.h: how many micro-batches a rank keeps in flight under each schedule.
///
/// Source: GPipe, arXiv:1811.06965; 1F1B and interleaving, arXiv:2104.04473 section 2.2; Megatron-LM's warm-up counts.
/// Checked against: tests/reference/pipeline_makespan_test.cpp (published counts for p = 4, m = 16).

#include <cstdint>

#include "core/plan/strategy.h"

namespace plumbline {

/// Activations alive at the peak on pipeline rank `rank`, counted in chunks (one micro-batch's activations of one
/// chunk): m for GPipe, min(m, p - r) for 1F1B, min((v - 1) p + 2 (p - 1 - r) + 1, m v) for interleaved 1F1B.
[[nodiscard]] std::int64_t chunks_in_flight(const Strategy& strategy, std::int32_t rank);

}  // namespace plumbline
