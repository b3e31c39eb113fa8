#pragma once
/// \file pipeline_schedule.h: what follows from a schedule's record: where stages lie, its shapes, states in flight.
///
/// Model: p ranks, v chunks per rank, m micro-batches; a chunk's activations live from its forward to its backward, or
/// to its weight gradient where a schedule splits the backward.
/// Source: GPipe, arXiv:1811.06965; 1F1B and interleaving, arXiv:2104.04473 section 2.2; Megatron-LM's warm-up counts;
/// zero bubble, arXiv:2401.10241; V-Half, arXiv:2405.15362; DualPipeV, arXiv:2412.19437.
/// Not modelled: what a split backward frees before the weight gradient (tests/in_flight.h counts both).
/// Checked against: tests/reference/pipeline_orders_test.cpp (counted from the orders, exact) and
/// tests/reference/pipeline_makespan_test.cpp (published counts for p = 4, m = 16).

#include <cstdint>
#include <optional>
#include <string>

#include "core/plan/strategy.h"

namespace plumbline {

[[nodiscard]] std::int32_t stage_of(StagePlacement placement, std::int32_t pipeline_stages, std::int32_t rank,
                                    std::int32_t chunk);
[[nodiscard]] std::int32_t rank_of_stage(StagePlacement placement, std::int32_t pipeline_stages, std::int32_t stage);

/// Why a schedule has no order for this shape, with the numbers; nothing when it has. Rules R09, R11 and R12.
[[nodiscard]] std::optional<std::string> schedule_fault(Schedule schedule, std::int64_t pipeline_stages,
                                                        std::int64_t virtual_stages, std::int64_t micro_batches);

/// Activations alive at the peak on pipeline rank `rank`, counted in chunks (one micro-batch's activations of one
/// chunk): m for GPipe, min(m, p - r) for 1F1B, min((v - 1) p + 2 (p - 1 - r) + 1, m v) for interleaved 1F1B. On every
/// rank: min(m, p) for ZB-H1, min(m, 2 p - 1) for ZB-H2; of half micro-batches min(2 m, 2 p) for ZBV, 2 p + 1 for
/// DualPipeV, min(2 m, 2 floor((p + 2) / 2)) for V-Half, whose outer ranks may hold less when m < 2 p.
[[nodiscard]] std::int64_t chunks_in_flight(const Strategy& strategy, std::int32_t rank);

}  // namespace plumbline
