#include "core/plan/pipeline_schedule.h"

#include <algorithm>

namespace plumbline {
namespace {

/// A rank of several chunks has two or more; one of a V has two.
std::optional<std::string> chunk_fault(const ScheduleRecord& record, std::int64_t v) {
  const std::string count = std::to_string(v) + (v == 1 ? " virtual stage" : " virtual stages");
  switch (record.chunks) {
    case RankChunks::one:
      if (v == 1) return std::nullopt;
      return count + " without the interleaved schedule";
    case RankChunks::two:
      if (v == 2) return std::nullopt;
      return "the schedule " + std::string(record.name) + " with " + count;
    case RankChunks::several:
      if (v >= 2) return std::nullopt;
      return "the " + std::string(record.name) + " schedule with " + count;
  }
  return std::nullopt;
}

std::optional<std::string> micro_batch_fault(const ScheduleRecord& record, std::int64_t p, std::int64_t v,
                                             std::int64_t m) {
  switch (record.micro_batches) {
    case MicroBatchCount::any: return std::nullopt;
    case MicroBatchCount::multiple_of_ranks:
      if (m >= p && m % p == 0) return std::nullopt;
      return std::to_string(m) + " micro-batches are no multiple of pp " + std::to_string(p);
    case MicroBatchCount::one_for_each_chunk:
      if (m >= v * p) return std::nullopt;
      return std::to_string(m) + " micro-batches are fewer than the " + std::to_string(v * p) + " stages of " +
             std::string(record.name);
  }
  return std::nullopt;
}

}  // namespace

std::int32_t stage_of(StagePlacement placement, std::int32_t p, std::int32_t rank, std::int32_t chunk) {
  if (placement == StagePlacement::v_shaped && chunk == 1) return 2 * p - 1 - rank;
  return chunk * p + rank;
}

std::int32_t rank_of_stage(StagePlacement placement, std::int32_t p, std::int32_t stage) {
  if (placement == StagePlacement::v_shaped && stage >= p) return 2 * p - 1 - stage;
  return stage % p;
}

std::optional<std::string> schedule_fault(Schedule schedule, std::int64_t p, std::int64_t v, std::int64_t m) {
  if (p < 1 || v < 1 || m < 1) return "a pipeline without stages or micro-batches";
  if (p == 1 && (schedule != Schedule::none || v != 1)) return "a pipeline schedule with 1 stage";
  if (p > 1 && schedule == Schedule::none) return "no pipeline schedule with pp " + std::to_string(p);
  const ScheduleRecord& record = record_of(schedule);
  if (auto fault = chunk_fault(record, v)) return fault;
  return micro_batch_fault(record, p, v, m);
}

std::int64_t chunks_in_flight(const Strategy& s, std::int32_t rank) {
  return record_of(s.schedule).in_flight({s.pipeline_stages, s.virtual_stages, s.micro_batches, rank});
}

}  // namespace plumbline
