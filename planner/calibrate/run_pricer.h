#pragma once
/// \file run_pricer.h: the step time of one question under one calibration after another.
///
/// What does not depend on the calibration (graph, cluster, which layer runs where) is kept between prices. The same
/// terms as planner/pricing/evaluate.h, without memory; equal to it to the picosecond
/// (tests/unit/planner/calibrate/run_pricer_test.cpp).

#include "planner/pricing/priced.h"

namespace plumbline {

class RunPricer {
 public:
  /// `strategy`: legal, with a split and a recompute that do not depend on costs.
  RunPricer(const Question& question, Strategy strategy);

  /// Seconds of one step. Pure; callable from any thread.
  [[nodiscard]] double step_s(const Calibration& calibration) const;
  /// Of that step (core/cost/host_share.h).
  [[nodiscard]] double host_share(const Calibration& calibration) const;
  /// Of that step (core/cost/network_share.h).
  [[nodiscard]] double network_share(const Calibration& calibration) const;
  [[nodiscard]] const Strategy& strategy() const { return strategy_; }

 private:
  /// What `answer` says of the step's pricer and stages under a calibration.
  template <class Answer>
  [[nodiscard]] auto of_step(const Cluster& cluster, const Calibration& calibration, Answer answer) const;

  Graph graph_;
  Cluster cluster_;
  Training training_;
  Strategy strategy_;
  StageLayout layout_;
};

/// The cluster with the sources of its numbers left out: prices do not read them and copies become cheap.
[[nodiscard]] Cluster without_sources(Cluster cluster);
/// The same of a calibration.
[[nodiscard]] Calibration without_sources(Calibration calibration);

}  // namespace plumbline
