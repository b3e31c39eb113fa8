#pragma once
/// \file ranking.h: whether predictions order the answers to one question as measurements do.
///
/// A question: one model, hardware, GPUs, batch, sequence, precision and release of a stack; its runs differ in how
/// they are parallelised, and in what of the stack their launch chose (compiled, async-TP). A pair counts when its
/// measured times differ by more than twice the source's noise, the relative standard deviation of repetitions of one
/// configuration (pooled over the source; `default_noise` without any). Regret: the measured time of the predicted
/// best over that of the measured best, minus 1.

#include <map>

#include "planner/calibrate/cross_validation.h"
#include "planner/question/noise.h"

namespace plumbline {

inline constexpr double default_noise = repeated_run_noise;

struct SourceNoise {
  double sigma = default_noise;
  std::int64_t repetitions = 0;  ///< beyond the first of each configuration; 0: assumed
};
[[nodiscard]] std::map<std::string, SourceNoise> noise_by_source(const std::vector<FitRun>& runs);

struct RankedQuestion {
  std::string question;
  std::string source;
  std::int64_t runs = 0;
  std::int64_t pairs = 0;  ///< that differ by more than the noise
  std::int64_t pairs_right = 0;
  double spearman = 0;
  double regret = 0;
  double noise = 0;
};
/// Questions of at least two tested runs, doubtful ones left out, in order of their names.
[[nodiscard]] std::vector<RankedQuestion> rank_questions(const std::vector<FitRun>& runs,
                                                         const std::vector<TestedRun>& tested);

}  // namespace plumbline
