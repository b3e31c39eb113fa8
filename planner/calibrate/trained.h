#pragma once
/// \file trained.h: a calibration learned from some runs, and what it predicts of others.
///
/// Model of the interval: log(measured / predicted) is normal with variance noise^2 + what the fit leaves open of this
/// prediction (robust_fit.h). The noise is the smallest that makes nine tenths of the training runs, each predicted
/// without its group, lie inside their interval; by class of runs where there are enough, else over all.
/// So a run far from what was trained on has a wide interval because its constants are still at their priors; one of a
/// stack without any run on its class of devices, and one after a few runs, also has what frameworks add
/// (framework_noise.h).
/// Source: leave-one-group-out residuals as in Barber et al., "Predictive inference with the jackknife+", 2021.
/// What is predicted enters by its question only: train() sees nothing else of runs that are not in `training`.
/// Checked against: tests/unit/planner/calibrate/cross_validation_test.cpp.

#include <array>
#include <set>
#include <string>

#include "core/plan/estimate.h"
#include "planner/calibrate/framework_noise.h"

namespace plumbline {

/// Of a measured step around its prediction, alongside what a fit leaves open.
struct RunNoise {
  double variance = 0;
  double deviations = 0;  ///< of 90 %, two-sided
};

class Trained {
 public:
  /// `training`: indices into `runs`; runs of weight 0 are left out. `space` outlives this. `start`: where the fit
  /// begins, by number of the space; empty: at the priors.
  Trained(const ParameterSpace& space, const std::vector<FitRun>& runs, const std::vector<std::size_t>& training,
          const FitOptions& options, const std::vector<double>& start = {});

  [[nodiscard]] Interval predict(const FitRun& run) const;
  [[nodiscard]] const FitResult& result() const { return result_; }
  /// By number of the space; those that fit as well at their priors are held there (held_numbers.h).
  [[nodiscard]] const std::vector<PriorTerm>& priors() const { return priors_; }
  /// To first order, where the fit would lie without these of its runs.
  [[nodiscard]] std::vector<double> unknowns_without(const std::vector<FitRun>& runs,
                                                     const std::set<std::size_t>& left_out, double loss_scale) const;
  /// Indices of the runs that were fitted.
  [[nodiscard]] const std::vector<std::size_t>& fitted() const { return fitted_; }
  /// log(predicted / measured) of the fitted runs had their group not been fitted.
  [[nodiscard]] const std::vector<LeftOutError>& left_out() const { return left_out_; }
  [[nodiscard]] double noise(RunClass run_class) const { return noise_.at(static_cast<std::size_t>(run_class)); }
  /// What a framework adds of which no run was trained on, and one of which a few were.
  [[nodiscard]] const FrameworkNoises& of_frameworks() const { return noises_; }
  /// Of a run of a class, by what is known of its stack.
  [[nodiscard]] RunNoise noise(RunClass run_class, CalibrationRegime regime) const;

 private:
  void find_noise(const std::vector<FitRun>& runs);
  void find_framework_noise(const std::vector<FitRun>& runs, const FitProblem& problem, const FitOptions& options);

  const ParameterSpace& space_;
  std::vector<std::size_t> fitted_;
  std::vector<PriorTerm> priors_;
  FitResult result_;
  std::vector<LeftOutError> left_out_;
  std::array<double, all_run_classes.size()> noise_{};
  FrameworkNoises noises_;
  std::set<std::string> known_;  ///< stack and class of the training runs
  double derivative_step_ = 0;
};

/// Of a run's step, with what a fit leaves open of it: 90 % two-sided.
[[nodiscard]] Interval predicted_interval(const ParameterSpace& space, const FitResult& result, const RunNoise& noise,
                                          const FitRun& run, double derivative_step);

/// A run that the host holds up says little of its device, and of a framework what its host says: whether more than 0.3
/// of its time moves with the host's times. `gradient`: of its logarithm by `space`'s unknowns of the run.
[[nodiscard]] bool is_held_up_by_host(const ParameterSpace& space, const FitRun& run,
                                      const std::vector<double>& gradient);

/// Smallest noise for which `share` of the errors lie inside deviations * sqrt(noise^2 + variance).
[[nodiscard]] double covering_noise(const std::vector<LeftOutError>& errors, double share, double deviations);

}  // namespace plumbline
