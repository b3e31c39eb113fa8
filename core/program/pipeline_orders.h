#pragma once
/// \file pipeline_orders.h: the order of compute actions of each pipeline schedule; one .cpp for each.
///
/// Answers: which rank computes what, in which order; exact, integers only. `shape` must be legal (`schedule_fault`).
/// Model: p ranks, rank r, m micro-batches, v chunks per rank. Orders depend on no times.
/// Source: GPipe, arXiv:1811.06965; 1F1B and interleaving, arXiv:2104.04473 with Megatron-LM's warm-up counts; ZB-H1,
/// ZB-H2 and ZBV, arXiv:2401.10241; V-Half, arXiv:2405.15362; DualPipeV, arXiv:2412.19437 and its public code.
/// Not modelled: orders fitted to measured times (the ZB-2p of arXiv:2401.10241: see fitted_zero_bubble.h).
/// Checked against: tests/reference/pipeline_orders_test.cpp: action by action, the orders that PyTorch 2.15 makes and
/// (V-Half) that the authors' scheduler makes; ZB-H2 has no published list and is held against its properties.

#include "core/program/compute_schedule.h"

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

}  // namespace plumbline
