#pragma once
/// \file schedule.h: the pipeline schedules, one record each: its name, the shapes it has an order for, what it holds.
///
/// Model: p ranks, v chunks per rank, m micro-batches. A record is what a plan, its rules and its memory need to know;
/// the order of actions is a file of core/program (pipeline_orders.h). What a record does not say follows from the
/// order: its time (core/cost/pipeline_time.h, unless there is a closed form), its messages, its peaks.
/// Source: GPipe, arXiv:1811.06965; 1F1B and interleaving, arXiv:2104.04473 section 2.2; Megatron-LM's warm-up counts;
/// zero bubble, arXiv:2401.10241; V-Half, arXiv:2405.15362; DualPipeV, arXiv:2412.19437.
/// Checked against: tests/reference/pipeline_orders_test.cpp (in-flight counts and shapes, from the orders).

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plumbline {

/// ROW(ID) of each schedule: Schedule::ID, and ID_schedule, its order (core/program/pipeline_orders.h). In the order of
/// tie-breaks.
#define PLUMBLINE_SCHEDULES(ROW) \
  ROW(none)                      \
  ROW(gpipe) ROW(one_f_one_b) ROW(interleaved) ROW(zb_h1) ROW(zb_h2) ROW(zbv) ROW(v_half) ROW(dualpipev)

#define ROW(ID) ID,
enum class Schedule : std::uint8_t { PLUMBLINE_SCHEDULES(ROW) };
#undef ROW

/// Which stage of the network a rank's chunk is. Looped: chunk * p + rank. V, of two chunks: rank and 2 p - 1 - rank.
enum class StagePlacement : std::uint8_t { looped, v_shaped };

/// Chunks of a rank.
enum class RankChunks : std::uint8_t { one, two, several };

enum class MicroBatchCount : std::uint8_t { any, multiple_of_ranks, one_for_each_chunk };

/// Which backwards are an input gradient and, as an action of its own, a weight gradient.
enum class SplitBackwards : std::uint8_t { none, first_and_last, all };

/// Whether a rank ends all forwards before its first backward.
enum class PassOrder : std::uint8_t { alternating, forwards_first };

/// Whether a search that names no schedule considers it: always, or of frameworks that have it (docs/decisions/0036).
/// Of an axis: whether other values than the usual one are tried where none is named.
enum class Considered : std::uint8_t { always, when_named };

struct RankShape {
  std::int64_t p = 1;
  std::int64_t v = 1;
  std::int64_t m = 1;
  std::int64_t rank = 0;
};

/// Whether ranks run a forward of one micro-batch and a backward of another as one, so that what either exchanges is
/// transferred while the other computes.
enum class PairedPasses : std::uint8_t { no, yes };

struct ScheduleRecord {
  Schedule schedule;
  std::string_view name;  ///< of flags, files and tables
  StagePlacement placement = StagePlacement::looped;
  RankChunks chunks = RankChunks::one;
  MicroBatchCount micro_batches = MicroBatchCount::any;
  SplitBackwards splits = SplitBackwards::none;
  PassOrder passes = PassOrder::alternating;
  PairedPasses paired = PairedPasses::no;
  Considered considered = Considered::when_named;
  int rarity = 3;  ///< of plans that are equally fast, the simplest has the schedule that is used most
  /// Activations alive at the peak, counted in chunks.
  std::int64_t (*in_flight)(const RankShape& shape);
};

/// In the order of Schedule.
inline constexpr std::array schedule_records{
    ScheduleRecord{.schedule = Schedule::none,
                   .name = "none",
                   .considered = Considered::always,
                   .rarity = 0,
                   .in_flight = [](const RankShape&) { return std::int64_t{1}; }},
    ScheduleRecord{.schedule = Schedule::gpipe,
                   .name = "gpipe",
                   .passes = PassOrder::forwards_first,
                   .considered = Considered::always,
                   .in_flight = [](const RankShape& s) { return s.m * s.v; }},
    ScheduleRecord{.schedule = Schedule::one_f_one_b,
                   .name = "1f1b",
                   .considered = Considered::always,
                   .rarity = 1,
                   .in_flight = [](const RankShape& s) { return std::min(s.m, s.p - s.rank); }},
    ScheduleRecord{
        .schedule = Schedule::interleaved,
        .name = "interleaved",
        .chunks = RankChunks::several,
        .micro_batches = MicroBatchCount::multiple_of_ranks,
        .considered = Considered::always,
        .rarity = 2,
        .in_flight =
            [](const RankShape& s) { return std::min((s.v - 1) * s.p + 2 * (s.p - 1 - s.rank) + 1, s.m * s.v); }},
    ScheduleRecord{.schedule = Schedule::zb_h1,
                   .name = "zb-h1",
                   .splits = SplitBackwards::all,
                   .in_flight = [](const RankShape& s) { return std::min(s.m, s.p); }},
    ScheduleRecord{.schedule = Schedule::zb_h2,
                   .name = "zb-h2",
                   .splits = SplitBackwards::all,
                   .in_flight = [](const RankShape& s) { return std::min(s.m, 2 * s.p - 1); }},
    ScheduleRecord{.schedule = Schedule::zbv,
                   .name = "zbv",
                   .placement = StagePlacement::v_shaped,
                   .chunks = RankChunks::two,
                   .splits = SplitBackwards::all,
                   .in_flight = [](const RankShape& s) { return std::min(2 * s.m, 2 * s.p); }},
    ScheduleRecord{.schedule = Schedule::v_half,
                   .name = "v-half",
                   .placement = StagePlacement::v_shaped,
                   .chunks = RankChunks::two,
                   .splits = SplitBackwards::all,
                   .in_flight = [](const RankShape& s) { return std::min(2 * s.m, (s.p + 2) / 2 * 2); }},
    ScheduleRecord{.schedule = Schedule::dualpipev,
                   .name = "dualpipev",
                   .placement = StagePlacement::v_shaped,
                   .chunks = RankChunks::two,
                   .micro_batches = MicroBatchCount::one_for_each_chunk,
                   .splits = SplitBackwards::first_and_last,
                   .paired = PairedPasses::yes,
                   .in_flight = [](const RankShape& s) { return 2 * s.p + 1; }}};

#define ROW(ID) Schedule::ID,
inline constexpr std::array all_schedules{PLUMBLINE_SCHEDULES(ROW)};
#undef ROW
static_assert(std::equal(all_schedules.begin(), all_schedules.end(), schedule_records.begin(), schedule_records.end(),
                         [](Schedule schedule, const ScheduleRecord& record) { return record.schedule == schedule; }),
              "records are found by their schedule's number");

[[nodiscard]] constexpr const ScheduleRecord& record_of(Schedule schedule) {
  return schedule_records[static_cast<std::size_t>(schedule)];
}
[[nodiscard]] constexpr std::string_view to_text(Schedule schedule) { return record_of(schedule).name; }
[[nodiscard]] std::optional<Schedule> schedule_from_text(std::string_view text);

[[nodiscard]] constexpr StagePlacement placement(Schedule schedule) { return record_of(schedule).placement; }
/// Whether weight gradients are actions of their own.
[[nodiscard]] constexpr bool splits_backward(Schedule schedule) {
  return record_of(schedule).splits != SplitBackwards::none;
}
[[nodiscard]] constexpr bool splits_every_backward(Schedule schedule) {
  return record_of(schedule).splits == SplitBackwards::all;
}

}  // namespace plumbline
