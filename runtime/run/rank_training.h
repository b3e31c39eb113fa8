#pragma once
/// \file rank_training.h: one rank of a run: its memory, parameters and executor; steps, and what it records.
///
/// Model: a step is the program, one exchange of scalars among all ranks (loss, sum of squares, overflow), from which
/// the device decides, and the update; then the host reads them. Errors name rank, stage and action. Not modelled: see
/// trainer.h. Checked against: tests/runtime/execution.

#include <filesystem>

#include "runtime/device/cpu_device.h"
#include "runtime/execution/evaluation.h"
#include "runtime/run/rank_checkpoint.h"
#include "runtime/run/rank_scalars.h"
#include "runtime/run/trainer.h"

namespace plumbline {

class RankTraining {
 public:
  /// `report_action`: called with each action before it is begun.
  RankTraining(World& world, const TrainingJob& job, RunOptions options,
               std::function<void(std::int32_t)> report_action);
  RankTraining(const RankTraining&) = delete;
  RankTraining& operator=(const RankTraining&) = delete;
  /// Lanes may still work on what a failed step leaves.
  ~RankTraining() { device_->stop(); }

  void run();
  [[nodiscard]] const std::vector<StepRecord>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<std::int32_t>& generated() const { return generated_; }
  [[nodiscard]] std::int32_t traced_step() const { return traced_; }
  /// All ranks call it. `has_one_clock`: times are from the begin of the step on the first of them.
  [[nodiscard]] RankRecord record(bool has_one_clock);
  [[nodiscard]] Communicator& everyone() { return groups_.everyone(); }

 private:
  /// "rank 2 (stage 1) at forward 3 of chunk 0". `error`: of work that failed on the device, the first action that is
  /// not known to be done; null: the action at hand.
  [[nodiscard]] std::string place(const std::exception* error = nullptr) const;
  void tell_place() const {
    observer_.on_place([this] { return place(); });
  }
  void step(std::int64_t number);
  /// After a step: what held-out text loses. Whether the run ends because that improves no more.
  [[nodiscard]] bool evaluate(StepRecord& record, bool is_last);
  /// After the last step: what the trained network writes.
  void generate(const StepRecord& record);
  /// Runs what is none of a step's, and leaves its messages out.
  template <class Act>
  void outside_steps(Act act);
  [[nodiscard]] Executor::BeforeAction before_action(std::int64_t step);
  /// What this rank holds and does (rank_description.h).
  [[nodiscard]] Json description();
  /// Groups under the names that a record gives them.
  [[nodiscard]] std::vector<std::pair<std::string, Communicator*>> named_groups();
  void save(std::int64_t next_step);
  void resume();
  void require_finite_state(std::int64_t next_step);
  void require_finite(const std::vector<RankScalars>& by_rank, const StepRecord& record, bool overflows);
  /// Ends all ranks with a line of `rank`.
  [[noreturn]] void diverged(std::int32_t rank, std::int64_t step, const std::string& what);
  /// Gives the device the update.
  void optimize(std::int64_t number);
  /// What the device made of the step.
  void conclude(StepRecord& record);
  void remember_times(const StepRecord& record);
  void remember_copies();
  void remember_routed(Bytes peak_before);

  const TrainingJob& job_;
  RunOptions options_;  ///< its own: a rank that hangs may outlive the caller's
  RunObserver silent_observer_;
  ExecutionProbe silent_probe_;
  RunObserver& observer_;
  ExecutionProbe& probe_;
  std::function<void(std::int32_t)> report_action_;
  std::unique_ptr<ComputeDevice> device_;
  RankGroups groups_;
  Backend backend_;
  std::optional<StepMemory> memory_;  ///< outlives what is bound in a step, which a failing rank leaves bound
  ParameterStore parameters_;
  RankShare share_;
  RankDevice rank_device_;
  StepValues values_;
  DataFeed feed_;
  ExecutionPlan plan_;
  Executor executor_;
  Evaluation evaluation_;
  LossScaleRule scale_rule_;
  StepState state_;  ///< as the device has it between steps
  EarlyStopping early_stopping_;
  RankCheckpoint checkpoint_;
  std::filesystem::path last_checkpoint_;  ///< that was read or written
  std::int64_t first_step_ = 0;
  std::int32_t at_action_ = -1;
  std::int64_t saving_ = -1;  ///< the checkpoint at work
  int stopped_by_ = 0;        ///< the signal that ends the run behind this step
  std::vector<StepRecord> steps_;
  std::vector<std::int32_t> generated_;
  HostCopies copied_;                           ///< over all steps; on the host, in the step that had most there
  std::vector<SentByKind> sent_outside_steps_;  ///< by named group: what evaluations sent
  std::int32_t traced_ = -1;
  std::int64_t traced_begin_ns_ = 0;
  std::vector<ActionTime> traced_times_;
  std::vector<std::vector<std::int64_t>> lengths_;  ///< by action, of the steps after the warm-up
  MemoryBreakdown highest_;
  std::optional<DeviceMemoryRecord> device_memory_;
  std::map<std::pair<std::int32_t, std::int32_t>, RoutedRecord> routed_;  ///< by execution and micro-batch
};

}  // namespace plumbline
