#pragma once
/// \file calibrated_json.h: what calibrations found, as `plan calibrate --json` prints it; written only.
///
/// Checked against: tests/unit/planner/session/calibrate/calibrated_json_test.cpp, tests/integration/calibrate_test.py.

#include "core/io/json.h"
#include "core/io/machine_json.h"
#include "planner/calibrate/kernel_laws.h"
#include "planner/calibrate/link_fit.h"
#include "planner/calibrate/own_runs.h"

namespace plumbline {

/// Of one's own runs: "plumbline.calibrated/1".
[[nodiscard]] Json to_json(const OwnCalibration& found, const std::vector<FitRun>& runs);
/// Of a machine's links: "plumbline.link_fit/1"; `document` is the machine with them.
[[nodiscard]] Json to_json(const LinkFit& fit, const MachineDocument& document);
/// Of kernels: {"coefficients","residuals","core_share"}. `measured`: what the table decided; `core_share`: of a core
/// that kernels had while they were timed.
[[nodiscard]] Json kernel_fit_json(const std::vector<NamedCoefficient>& measured,
                                   const std::vector<KernelResidual>& residuals, double core_share);

}  // namespace plumbline
