#include "core/plan/pipeline_schedule.h"

#include <algorithm>

namespace plumbline {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

std::optional<std::string> interleaving_fault(std::int64_t p, std::int64_t v, std::int64_t m) {
  if (v < 2) return "the interleaved schedule with 1 virtual stage";
  if (m < p || m % p != 0) return number(m) + " micro-batches are no multiple of pp " + number(p);
  return std::nullopt;
}

std::optional<std::string> v_schedule_fault(Schedule schedule, std::int64_t p, std::int64_t v, std::int64_t m) {
  const std::string name(to_text(schedule));
  if (v != 2) return "the schedule " + name + " with " + number(v) + (v == 1 ? " virtual stage" : " virtual stages");
  if (schedule == Schedule::dualpipev && m < 2 * p)
    return number(m) + " micro-batches are fewer than the " + number(2 * p) + " stages of " + name;
  return std::nullopt;
}

}  // namespace

StagePlacement placement(Schedule schedule) {
  const bool v_shaped = schedule == Schedule::zbv || schedule == Schedule::v_half || schedule == Schedule::dualpipev;
  return v_shaped ? StagePlacement::v_shaped : StagePlacement::looped;
}

std::int32_t stage_of(StagePlacement placement, std::int32_t p, std::int32_t rank, std::int32_t chunk) {
  if (placement == StagePlacement::v_shaped && chunk == 1) return 2 * p - 1 - rank;
  return chunk * p + rank;
}

std::int32_t rank_of_stage(StagePlacement placement, std::int32_t p, std::int32_t stage) {
  if (placement == StagePlacement::v_shaped && stage >= p) return 2 * p - 1 - stage;
  return stage % p;
}

bool splits_backward(Schedule schedule) { return schedule >= Schedule::zb_h1; }

std::optional<std::string> schedule_fault(Schedule schedule, std::int64_t p, std::int64_t v, std::int64_t m) {
  if (p < 1 || v < 1 || m < 1) return "a pipeline without stages or micro-batches";
  if (p == 1 && (schedule != Schedule::none || v != 1)) return "a pipeline schedule with 1 stage";
  if (p > 1 && schedule == Schedule::none) return "no pipeline schedule with pp " + number(p);
  if (schedule == Schedule::interleaved) return interleaving_fault(p, v, m);
  if (placement(schedule) == StagePlacement::v_shaped) return v_schedule_fault(schedule, p, v, m);
  if (v != 1) return number(v) + " virtual stages without the interleaved schedule";
  return std::nullopt;
}

std::int64_t chunks_in_flight(const Strategy& s, std::int32_t rank) {
  const std::int64_t p = s.pipeline_stages;
  const std::int64_t v = s.virtual_stages;
  const std::int64_t m = s.micro_batches;
  switch (s.schedule) {
    case Schedule::none: return 1;
    case Schedule::gpipe: return m * v;
    case Schedule::one_f_one_b: return std::min(m, p - rank);
    case Schedule::interleaved: return std::min((v - 1) * p + 2 * (p - 1 - rank) + 1, m * v);
    case Schedule::zb_h1: return std::min(m, p);
    case Schedule::zb_h2: return std::min(m, 2 * p - 1);
    case Schedule::zbv: return std::min(2 * m, 2 * p);
    case Schedule::v_half: return std::min(2 * m, (p + 2) / 2 * 2);
    case Schedule::dualpipev: return 2 * p + 1;
  }
  return 1;
}

}  // namespace plumbline
