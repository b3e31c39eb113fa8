#pragma once
/// \file pipeline_orders.h: the order of compute actions of each pipeline schedule: one .cpp for each, with its row.
///
/// Answers: which rank computes what, in which order; exact, integers only. `shape` must be legal (`schedule_fault`).
/// Model: p ranks, rank r, m micro-batches, v chunks per rank. Orders depend on no times.
/// Source: GPipe, arXiv:1811.06965; 1F1B and interleaving, arXiv:2104.04473 with Megatron-LM's warm-up counts; ZB-H1,
/// ZB-H2 and ZBV, arXiv:2401.10241; V-Half, arXiv:2405.15362; DualPipeV, arXiv:2412.19437 and its public code.
/// Not modelled: orders fitted to measured times (the ZB-2p of arXiv:2401.10241: see
/// tests/reference/fitted_zero_bubble.h). Checked against: tests/reference/pipeline_orders_test.cpp: action by action,
/// the orders that PyTorch 2.15 makes and (V-Half) that the authors' scheduler makes; ZB-H2 has no published list and
/// is held against its properties.

#include <array>

#include "core/program/compute_schedule.h"
#include "core/program/peak_load.h"

namespace plumbline {

/// The orders of all ranks, each for itself.
template <RankOrder (*order)(const PipelineShape&, std::int32_t)>
[[nodiscard]] std::vector<RankOrder> rank_by_rank(const PipelineShape& shape) {
  std::vector<RankOrder> ranks;
  for (std::int32_t rank = 0; rank < shape.pipeline_stages; ++rank) ranks.push_back(order(shape, rank));
  return ranks;
}

/// Micro-batches after which an order repeats itself (repeating_order.h).
enum class RepeatingPeriod : std::uint8_t { micro_batch, pipeline_stages };
/// How the drain of a longer order follows from that of a shorter one.
enum class Drain : std::uint8_t { the_same, packed_anew };

struct ScheduleOrder {
  std::vector<RankOrder> (*orders)(const PipelineShape&);
  std::int32_t repeats_from = 0;  ///< in multiples of p: the first forward of the repeating part; 0: there is none
  RepeatingPeriod period = RepeatingPeriod::micro_batch;
  Drain drain = Drain::the_same;
  /// What a rank's chunks hold at most, where that is known without a walk through the order (peak_load.h).
  PeakLoads (*peaks)(const PipelineShape&, std::int32_t rank, std::span<const ChunkLoad>) = nullptr;
};

/// Each in its own file.
#define ROW(ID) extern const ScheduleOrder ID##_schedule;
PLUMBLINE_SCHEDULES(ROW)
#undef ROW
#define ROW(ID) &ID##_schedule,
inline constexpr std::array schedule_orders{PLUMBLINE_SCHEDULES(ROW)};
#undef ROW

[[nodiscard]] constexpr const ScheduleOrder& order_of(Schedule schedule) {
  return *schedule_orders[static_cast<std::size_t>(schedule)];
}

}  // namespace plumbline
