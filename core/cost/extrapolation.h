#pragma once
/// \file extrapolation.h: how uncertain a prediction is, and which part of that is distance from anything measured.
///
/// Model: the logarithm of predicted over measured is normal. Its variance is the device's residual and the stack's,
/// less once what both contain because each was taken on runs that had some device and some stack (`shared_time_sigma`,
/// at most the smaller of the two); two calibrations that were measured well are thus no worse together than the
/// larger, and what an unknown device and an unknown stack add is independent. Outside the measured ranges every
/// doubling of a scale adds `sigma_per_doubling`, every unmeasured device, number format or kind of network
/// `sigma_per_novelty`; each scale independently, hence squared sums. Of a scale the farther of device and stack
/// counts. Inside the ranges nothing is added. Residuals are taken on runs that the host did not hold up, so of a step
/// they move the share that does not move with the host's times; what those leave open adds what one sigma of them
/// moves the step (host_share.h), and a network between nodes that the source of a run does not state its sigma times
/// the share of the step that moves with it (network_share.h). Memory is counted rather than fitted, so its uncertainty
/// is the stack's, however far a plan is from what was measured. Source: the residuals' files; both slopes are assumed
/// (models/calibrations/traits.json). Not modelled: correlation between scales, bias of a stack that no run showed.
/// Checked against: tests/property/extrapolation_test.cpp (monotone, unchanged inside, wider when unknown).

#include <string>
#include <vector>

#include "core/cost/calibration.h"

namespace plumbline {

/// One respect in which a question lies outside of what was measured.
struct Beyond {
  std::string what;         ///< "16384 GPUs where at most 3072 were measured"
  double doublings = 0;     ///< past the end of the range; 0 for what has no scale
  bool of_network = false;  ///< whether it is the kind of network
};

struct Uncertainty {
  CalibrationRegime regime = CalibrationRegime::unknown;  ///< the weaker of device and stack
  double time_sigma = 0;                                  ///< of log(predicted / measured) of step times
  double memory_sigma = 0;                                ///< of peak memory
  std::vector<Beyond> beyond;
};

[[nodiscard]] Uncertainty uncertainty(const Calibration& calibration, const RunFeatures& run);

/// Of step times, by the stack's runs alone, whatever the device's calibration and the host add: how near a stack was
/// measured to a run whose strategy nobody knows yet (scales of 0). Devices and number formats that no run of it had
/// are new here too, and so are several GPUs where one alone was measured, which says nothing of collectives.
[[nodiscard]] double stack_time_sigma(const StackCalibration& stack, const RunFeatures& run);

}  // namespace plumbline
