#pragma once
/// \file residuals_json.h: residuals as they are in device and stack files.
///
/// {"regime": "calibrated" | "few_rows" | "unknown", "time": {a coefficient's keys, "rows"}, "memory": the same or
/// absent, "measured": {"devices": [..], "formats": [..], "networks": ["dense", "moe"], "gpus": [least, most],
/// "hidden", "sequence", "tokens_per_micro_batch", "tp", "pp", "cp", "ep"}}; every key of "measured" may be absent.

#include "core/cost/residuals.h"
#include "core/io/json.h"

namespace plumbline {

/// Strict; throws InputError.
[[nodiscard]] Residuals residuals_from_json(const JsonPlace& place);
/// {"time": .., "memory": ..} per regime, all three.
[[nodiscard]] std::array<RegimeSigma, calibration_regimes.size()> regimes_from_json(const JsonPlace& place);

[[nodiscard]] Json residuals_json(const Residuals& residuals);
[[nodiscard]] Json regimes_json(const std::array<RegimeSigma, calibration_regimes.size()>& regimes);

}  // namespace plumbline
