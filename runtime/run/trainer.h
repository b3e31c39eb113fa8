#pragma once
/// \file trainer.h: trains a network as a plan says, and records what the run did.
///
/// Answers: a RunRecord (core/measurement/run_record.h), whose names and fingerprints the caller fills. Model: every
/// rank walks its stage's program (execution/executor.h); gradients are summed over the batch, unscaled, clipped by
/// their global norm, and applied; fp16 skips steps that overflow. A rank computes on the CPU or on the device that the
/// options make for it. Ranks are threads of this process, or processes of a launch, of which rank 0 returns the record
/// of all and the others an empty one. How long, on what and with whom is RunOptions; what is heard meanwhile goes to a
/// RunObserver. Errors: before any work, InputError for what is not executed or does not fit together and
/// EnvironmentError for a disk without room; RunFailure, with the rank, its stage and its action, when a rank throws or
/// hangs; InternalError, with the same, when a rank finds a bug of ours. Not modelled: several jobs in one process.
/// Checked against: tests/runtime/execution, tests/cuda/training_test.cpp, tests/integration/mpi_run_test.py.

#include <memory>

#include "core/graph/operator_constants.h"
#include "core/measurement/run_record.h"
#include "runtime/run/run_options.h"
#include "runtime/training/expert_routing.h"
#include "runtime/training/fp8_scaling.h"
#include "runtime/training/learning_rate.h"
#include "runtime/training/loss_scale.h"
#include "runtime/training/optimizer_settings.h"

namespace plumbline {

/// A run ended before its last step (exit code 3). A rank that hangs on is a thread that still reads the job, the
/// options and what they point to: after this, or an InternalError, they live as long as it, by `train`'s owner, or
/// until the process ends.
class RunFailure : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// Loss, gradients or weights are not finite: nothing is trained, or written, from then on.
class TrainingDiverged : public RunFailure {
 public:
  using RunFailure::RunFailure;
};

/// Of which network a job is, for its checkpoints.
struct NetworkIdentity {
  std::string model_type = {};   ///< as Hugging Face spells it
  std::string config = {};       ///< of Hugging Face, as JSON text; empty: there is none
  std::string fingerprint = {};  ///< of what is executed, whatever the plan
};

/// What is run: a plan, lowered.
struct TrainingJob {
  const Graph& graph;  ///< as trained: frozen parameters and adapters written in
  const Strategy& strategy;
  const Training& training;
  /// Its segments are single executions of blocks (Granularity::block), whose programs it has.
  const Program& program;
  OptimizerSettings optimizer = {};
  LearningRateSchedule learning_rate = {};
  LossScaleRule loss_scale = {};  ///< fp16 alone
  OperatorConstants constants;
  std::string plan_fingerprint;  ///< of plan and constants
  ExpertRouting routing = ExpertRouting::learned;
  NetworkIdentity network = {};
  Fp8Scaling fp8_scaling = Fp8Scaling::tensor;  ///< of fp8 recipes
};

/// `owner`: of the job, the options and what they point to; every thread of a rank keeps it until it ends. Null: they
/// live long enough in any case.
[[nodiscard]] RunRecord train(const TrainingJob& job, const RunOptions& options,
                              const std::shared_ptr<const void>& owner = nullptr);

}  // namespace plumbline
