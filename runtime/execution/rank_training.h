#pragma once
/// \file rank_training.h: one rank of a run: its memory, parameters and executor; steps, and what it records.
///
/// Model: a step is the program, then one exchange of scalars among all ranks (loss, sum of squares, overflow), then
/// the update. Errors name rank, stage and action. Not modelled: see trainer.h. Checked against:
/// tests/runtime/execution.

#include "runtime/execution/executor.h"
#include "runtime/trainer.h"

namespace plumbline {

class RankTraining {
 public:
  RankTraining(World& world, const TrainingJob& job, const RunOptions& options);

  void run();
  [[nodiscard]] const std::vector<StepRecord>& steps() const { return steps_; }
  [[nodiscard]] std::int32_t traced_step() const { return traced_; }
  /// When the traced step began on this rank, in nanoseconds of its computer's clock; 0 without one.
  [[nodiscard]] std::int64_t traced_begin_ns() const { return traced_begin_ns_; }
  /// `behind_ns`: how much later than the first rank's the traced step began here.
  [[nodiscard]] RankRecord record(std::int64_t behind_ns);

 private:
  /// "rank 2 (stage 1) at forward 3 of chunk 0".
  [[nodiscard]] std::string place() const;
  void tell_place() const {
    if (options_.on_place) options_.on_place(place());
  }
  void step(std::int64_t number);
  void save(std::int64_t next_step);
  void resume();
  void optimize(std::int64_t number, const StepSums& sums, StepRecord& record);
  void remember_times(const StepRecord& record);
  void remember_routed(Bytes peak_before);
  void add_sent(RankRecord& record, Communicator& group, const std::string& name) const;

  const TrainingJob& job_;
  const RunOptions& options_;
  RankGroups groups_;
  Backend backend_;
  ParameterStore parameters_;
  RankEnvironment environment_;
  DataFeed feed_;
  ExecutionPlan plan_;
  Executor executor_;
  DynamicLossScale scale_;
  std::int64_t first_step_ = 0;
  std::int64_t updates_ = 0;
  std::int32_t at_action_ = -1;
  std::int64_t saving_ = -1;  ///< the checkpoint at work
  std::vector<StepRecord> steps_;
  std::int32_t traced_ = -1;
  std::int64_t traced_begin_ns_ = 0;
  std::vector<Executor::ActionTime> traced_times_;
  std::vector<std::vector<std::int64_t>> lengths_;  ///< by action, of the steps after the warm-up
  MemoryBreakdown highest_;
  std::map<std::pair<std::int32_t, std::int32_t>, RoutedRecord> routed_;  ///< by execution and micro-batch
};

}  // namespace plumbline
