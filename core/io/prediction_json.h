#pragma once
/// \file prediction_json.h: what is predicted of a plan, and what that costs over a run; written only.

#include "core/io/json.h"
#include "core/plan/estimate.h"

namespace plumbline {

/// Also in "prediction", where a whole plan is written: what its training and its step give together.
inline constexpr std::string_view samples_key = "samples_per_s_per_gpu";
/// "prediction" of models/schemas/plan.schema.json, but for that key. The seconds of "time" sum to
/// "step_time_s"/"expected".
[[nodiscard]] Json to_json(const Prediction& prediction);
/// {"days","gpu_hours","dollars","energy_kwh"}.
[[nodiscard]] Json to_json(const RunCost& run);
/// Cause to seconds.
[[nodiscard]] Json to_json(const TimeBreakdown& time);
[[nodiscard]] Json to_json(const Interval& interval);
/// Class to bytes.
[[nodiscard]] Json to_json(const MemoryBreakdown& memory);

/// Refuses keys that no plan has there. Throws InputError.
void check_prediction_keys(const JsonPlace& place);

}  // namespace plumbline
