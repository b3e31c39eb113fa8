#pragma once
/// \file pipeline_orders.h: the order of compute actions of each pipeline schedule: one row, one .cpp for each.
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

/// All forwards, then all backwards, both in the order of the micro-batches.
[[nodiscard]] RankOrder gpipe_order(const PipelineShape& shape, std::int32_t rank);
/// min(p - 1 - r, m) forwards, then a forward and a backward in turn, then the backwards that are left.
[[nodiscard]] RankOrder one_f_one_b_order(const PipelineShape& shape, std::int32_t rank);
/// (v - 1) p + 2 (p - 1 - r) chunk forwards of warm-up; micro-batches pass the chunks in groups of p.
[[nodiscard]] RankOrder interleaved_order(const PipelineShape& shape, std::int32_t rank);
/// 1F1B's warm-up; weight gradients r micro-batches behind the input gradients. Memory of 1F1B's first rank.
[[nodiscard]] RankOrder zb_h1_order(const PipelineShape& shape, std::int32_t rank);
/// 2 (p - 1 - r) forwards of warm-up; weight gradients 2 r micro-batches behind: no bubble but what a global barrier
/// makes, for twice the memory.
[[nodiscard]] RankOrder zb_h2_order(const PipelineShape& shape, std::int32_t rank);
/// V placement; no bubble when forward, input and weight gradient take the same time; memory of 1F1B's first rank.
[[nodiscard]] RankOrder zbv_order(const PipelineShape& shape, std::int32_t rank);
/// V placement; forward of one chunk issued together with the backward of the other. Needs m >= 2 p.
[[nodiscard]] RankOrder dualpipev_order(const PipelineShape& shape, std::int32_t rank);
/// V placement; half the memory of 1F1B's first rank. All ranks at once: they are packed together. O((p m)^2).
[[nodiscard]] std::vector<RankOrder> v_half_orders(const PipelineShape& shape);

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
  Schedule schedule;
  std::vector<RankOrder> (*orders)(const PipelineShape&);
  std::int32_t repeats_from = 0;  ///< in multiples of p: the first forward of the repeating part; 0: there is none
  RepeatingPeriod period = RepeatingPeriod::micro_batch;
  Drain drain = Drain::the_same;
  /// What a rank's chunks hold at most, where that is known without a walk through the order (peak_load.h).
  PeakLoads (*peaks)(const PipelineShape&, std::int32_t rank, std::span<const ChunkLoad>) = nullptr;
};

inline constexpr std::array schedule_orders{
    ScheduleOrder{.schedule = Schedule::none, .orders = rank_by_rank<one_f_one_b_order>, .repeats_from = 1},
    ScheduleOrder{.schedule = Schedule::gpipe, .orders = rank_by_rank<gpipe_order>},
    ScheduleOrder{.schedule = Schedule::one_f_one_b, .orders = rank_by_rank<one_f_one_b_order>, .repeats_from = 1},
    ScheduleOrder{.schedule = Schedule::interleaved,
                  .orders = rank_by_rank<interleaved_order>,
                  .repeats_from = 3,
                  .period = RepeatingPeriod::pipeline_stages,
                  .peaks = interleaved_peak_loads},
    ScheduleOrder{.schedule = Schedule::zb_h1, .orders = rank_by_rank<zb_h1_order>, .repeats_from = 1},
    ScheduleOrder{.schedule = Schedule::zb_h2, .orders = rank_by_rank<zb_h2_order>, .repeats_from = 2},
    ScheduleOrder{.schedule = Schedule::zbv, .orders = rank_by_rank<zbv_order>, .repeats_from = 3},
    ScheduleOrder{
        .schedule = Schedule::v_half, .orders = v_half_orders, .repeats_from = 3, .drain = Drain::packed_anew},
    ScheduleOrder{.schedule = Schedule::dualpipev, .orders = rank_by_rank<dualpipev_order>, .repeats_from = 3}};
static_assert(has_row_for_each_schedule(schedule_orders), "every schedule has an order");

[[nodiscard]] constexpr const ScheduleOrder& order_of(Schedule schedule) {
  return schedule_orders[static_cast<std::size_t>(schedule)];
}

}  // namespace plumbline
