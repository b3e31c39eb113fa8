#pragma once
/// \file parameter_space.h: which numbers of a calibration a set of runs can teach, and how each enters a run's price.
///
/// The bridge between calibrations as sets (ids and values) and a fit (logarithms by index). Which coefficients a
/// number decides for a device and stack is found by moving it and looking what moved, so that no composition rule is
/// repeated here. Runs are used for their device and stack only.

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/calibration_set.h"
#include "models/parameter_priors.h"
#include "planner/calibrate/fit_run.h"
#include "planner/calibrate/robust_fit.h"

namespace plumbline {

class ParameterSpace {
 public:
  /// Fitted are the numbers that decide a run, are not 0 and have a prior; where a prior lies around another number
  /// (of the base), every stack of a run gets a number of its own, around that of the stack it is like. Throws
  /// InputError where the centre has no prior, and for a number that was fitted before and has none: it would leak what
  /// is to be tested.
  ParameterSpace(const CalibrationSet& set, const PriorTable& priors, std::span<const FitRun> runs);

  [[nodiscard]] const std::vector<ParameterId>& ids() const { return ids_; }
  [[nodiscard]] const std::vector<FitUnknown>& unknowns() const { return unknowns_; }
  [[nodiscard]] const std::vector<PriorTerm>& priors() const { return terms_; }
  [[nodiscard]] double prior_sigma(std::size_t unknown) const;
  /// On which the prediction of a run depends: those that moved it when they were moved far; ascending.
  [[nodiscard]] std::vector<std::uint32_t> unknowns_of(const FitRun& run) const;
  /// log(seconds).
  [[nodiscard]] double log_step(const FitRun& run, std::span<const double> unknowns) const;
  [[nodiscard]] Calibration calibration(const FitRun& run, std::span<const double> unknowns) const;
  /// The set with all priors in place: what the fit starts from.
  [[nodiscard]] const CalibrationSet& base() const { return base_; }

 private:
  /// coefficient = its base value * exp(elasticity * (unknown - its start))
  struct Effect {
    std::uint32_t unknown = 0;
    std::size_t coefficient = 0;
    double elasticity = 1;
  };
  struct Binding {
    Calibration calibration;
    std::vector<Effect> effects;
  };

  void give_own_numbers(const PriorTable& priors, const std::string& stack);
  [[nodiscard]] std::optional<ParameterId> centre_of(const ParameterId& id, const ParameterPrior& prior) const;
  void add_with_centres(const ParameterId& id, const PriorTable& priors, std::set<ParameterId>& wanted) const;
  void add_unknown(const ParameterId& id, const ParameterPrior& prior);
  void add_terms(const PriorTable& priors);
  [[nodiscard]] Binding bound(const Device& device, const std::string& stack) const;
  void require_no_leak(const ParameterId& id, const Device& device, const std::string& stack) const;
  void find_active(std::span<const FitRun> runs);
  [[nodiscard]] std::vector<std::uint32_t> active(const FitRun& run) const;
  [[nodiscard]] static std::string key(const FitRun& run) { return run.device.name + "|" + run.stack; }
  [[nodiscard]] static std::string name(const FitRun& run) { return run.source + "|" + run.id; }

  CalibrationSet base_;
  std::span<const FitRun> runs_;  ///< while it is made
  std::vector<ParameterId> ids_;
  std::map<ParameterId, std::uint32_t> index_;
  std::vector<FitUnknown> unknowns_;
  std::vector<PriorTerm> terms_;
  std::map<std::string, Binding> bindings_;
  std::map<std::string, std::vector<std::uint32_t>> active_;  ///< by run
};

/// All coefficients of a calibration in one order.
[[nodiscard]] std::vector<Coefficient*> all_coefficients(Calibration& calibration);

}  // namespace plumbline
