#pragma once
/// \file reported_step.h: what a run says of a step while it goes on: the step's record, its speed, the time left.
///
/// Rates are of this step alone; the time left goes by the mean of the steps so far. Source of the ratio: Chowdhery et
/// al., PaLM (arXiv:2204.02311), appendix B (MFU), over the cores' product rate.

#include <string>

#include "core/measurement/run_record.h"

namespace plumbline {

struct ReportedStep {
  StepRecord step;
  double tokens_per_s = 0;
  FlopsPerSecond model_flops{0};
  double utilisation = 0;      ///< of the product rate of the cores
  std::string utilisation_of;  ///< where that rate is from: "calibrated", "a product timed before the run"
  double time_left_s = 0;
  double unigram_entropy = 0;  ///< of what is trained on
  std::string generated;       ///< after the last step, where text was asked for
};

}  // namespace plumbline
