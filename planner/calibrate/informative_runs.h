#pragma once
/// \file informative_runs.h: the few runs whose measurement would tell most about the others.
///
/// Answers places among the candidates. Model: what is known before leaves an uncertainty of every predicted step, and
/// steps that depend on the same numbers share it; measuring some leaves less of the others. Chosen are those for which
/// the sum of the sigmas that remain is least (I-optimal design), built one by one, then swapped while that helps.
/// Reads questions and sensitivities only, never what was measured. Source: Atkinson, Donev & Tobias, "Optimum
/// experimental designs, with SAS", 2007, sections 10.6 and 12.5. Not modelled: runs that a model misses. Checked
/// against: tests/unit/planner/calibrate/informative_runs_test.cpp (every choice).

#include "planner/calibrate/robust_fit.h"

namespace plumbline {

/// What a log prediction depends on, and how.
struct LogSensitivity {
  std::vector<std::uint32_t> unknowns;
  Gradient derivatives;
};

/// How far a published step may lie from its neighbours after a few runs: the study's error of such stacks.
inline constexpr double noise_of_few_runs = 0.1;

/// Sigmas that remain of all candidates, summed, once those of `chosen` were measured. `priors`: of `unknowns` numbers.
class RemainingUncertainty {
 public:
  RemainingUncertainty(const std::vector<PriorTerm>& priors, std::size_t unknowns,
                       const std::vector<LogSensitivity>& candidates);
  [[nodiscard]] double after(const std::vector<std::size_t>& chosen) const;
  [[nodiscard]] std::size_t candidates() const { return candidates_; }

 private:
  std::size_t candidates_;
  std::vector<double> covariance_;  ///< of the log predictions, run by run
};

/// `count` candidates (all of them where there are fewer), in order of choice.
[[nodiscard]] std::vector<std::size_t> informative_runs(const RemainingUncertainty& uncertainty, std::size_t count);

}  // namespace plumbline
