#pragma once
/// \file executor.h: walks one rank's program, action by action, on real numbers.
///
/// Answers: a step's loss and norm; what each action took and sent; what was live. Model: knows no schedule: actions
/// are issued in the order of the program, on their lanes (action_lanes.h). Collectives inside a block run where its
/// instructions have them (collectives_inside.h). A message is as long as its action says. Buffers are bound as
/// operators need them, at the places that step_memory.h plans; a program whose buffer is too small for what its action
/// bound is refused. Source: core/program/program.h. Not modelled: blocks that run at the same time.
/// Checked against: tests/runtime/execution: one rank's losses, weights and bytes for every axis.

#include <map>
#include <optional>

#include "core/cost/routed_sizes.h"
#include "core/measurement/run_record.h"
#include "runtime/execution/action_clock.h"
#include "runtime/execution/action_lanes.h"
#include "runtime/execution/action_ranges.h"
#include "runtime/execution/activation_offload.h"
#include "runtime/execution/block_interpreter.h"
#include "runtime/execution/collectives_inside.h"
#include "runtime/execution/gradient_reductions.h"
#include "runtime/execution/program_buffers.h"
#include "runtime/execution/replay_rows.h"
#include "runtime/execution/stage_messages.h"
#include "runtime/execution/step_graph.h"
#include "runtime/execution/step_memory.h"

namespace plumbline {

class Executor {
 public:
  /// Called when all gradients are reduced, at the program's optimizer step: gives the device the update.
  using OptimizerStep = std::function<void()>;
  /// Called with an action's index before it runs.
  using BeforeAction = std::function<void(std::int32_t)>;

  Executor(const ExecutionPlan& plan, ExecutionMode mode, const RankShare& share, RankDevice& device,
           ParameterStore& parameters, StepValues& values);

  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Buffers lie where it plans them from here on. It outlives the steps. With a graph, steps behind the first are one.
  void use(StepMemory& memory, std::unique_ptr<WorkGraph> graph = nullptr) {
    memory_ = &memory;
    graph_.use(std::move(graph));
  }

  /// Reserves what a step of `rehearsed` reserved alongside its tensors.
  void prepare_as(const Executor& rehearsed);
  /// Who looks at the logits of passes from here on.
  void show_logits(LogitsVisit visit) { pass_.on_logits = std::move(visit); }

  /// Returns when all of it is done. `step`: its number.
  void run_step(std::int64_t step, const BatchSource& batches, const OptimizerStep& optimizer,
                const BeforeAction& before = {});
  /// The program's forwards of its first `micro_batches` micro-batches, of `batches`, with the weights as they are;
  /// what a backward would read is released at once. Every rank calls it between the same two steps.
  [[nodiscard]] CrossEntropyLoss run_forwards(const BatchSource& batches, std::int32_t micro_batches,
                                              const BeforeAction& before = {});

  /// Marks and times of the last step, or of the one in progress.
  [[nodiscard]] const ActionClock& clock() const { return clock_; }
  /// Likewise: what forwards exchanged with other ranks' experts.
  [[nodiscard]] const RoutedStep& routed() const { return routed_; }
  /// Likewise: what was copied to the host and back.
  [[nodiscard]] const HostCopies& copied() const { return offload_.counted(); }
  [[nodiscard]] std::int32_t stage() const { return stage_; }
  [[nodiscard]] const RankProgram& program() const { return rank_; }
  [[nodiscard]] const RankBatches& batches() const { return batches_; }
  [[nodiscard]] const StepGraph& graph() const { return graph_; }

 private:
  using Place = std::pair<std::int32_t, std::int32_t>;  ///< execution and micro-batch
  using Transferred = std::map<Place, std::vector<BufferRef>>;

  /// Gives the device a step, call by call.
  void give_step(const OptimizerStep& optimizer, const BeforeAction& before);
  /// The same as one graph, recorded first where it must be.
  void give_graph(const OptimizerStep& optimizer, const BeforeAction& before);
  /// Gives an action to its lane, unless it was given already.
  void issue(std::int32_t index, const OptimizerStep& optimizer);
  void run(const Action& action, std::int32_t index, const OptimizerStep& optimizer);
  void compute(const Action& action, std::int32_t index);
  void forward(BlockInterpreter& interpreter, const Action& action, std::int32_t execution);
  void backward(BlockInterpreter& interpreter, const Action& action, std::int32_t execution);
  void take_gradients(const Action& action, std::int32_t execution);
  void send(const Action& action);
  void finish_unit(const Action& action, std::int32_t execution);
  [[nodiscard]] bool is_of_forwards(const Action& action, std::int32_t micro_batches) const;
  [[nodiscard]] std::int32_t execution_of(const Action& action) const;
  [[nodiscard]] const Block& block(std::int32_t execution) const;

  const ExecutionPlan& plan_;
  ExecutionMode mode_;
  const RankShare& share_;
  RankDevice& device_;
  ParameterStore& parameters_;
  StepScalars& scalars_;
  KernelTables tables_;
  RankBatches batches_;
  ForwardPass pass_;
  KernelParts parts_;
  StepMemory* memory_ = nullptr;
  std::int32_t stage_;
  const RankProgram& rank_;
  std::vector<BlockId> sequence_;
  std::vector<std::int32_t> last_pass_;  ///< by execution: actions that make its weight gradients, still to come
  std::vector<std::int32_t> passes_;     ///< by execution, in a step
  GradientReductions reductions_;
  std::map<Place, BlockState> states_;
  ReplayRows replay_rows_;
  Transferred activations_;         ///< for an execution
  Transferred gradients_;           ///< of an execution's outputs
  Transferred parked_gradients_;    ///< the same, from a stage on the same rank
  std::vector<BufferRef> waiting_;  ///< of those, what the backward at work reads
  ProgramBuffers buffers_;
  ActionClock clock_;
  StageMessages messages_;
  CollectivesInside inside_;
  ActionLanes lanes_;
  ActionRanges ranges_;
  ActivationOffload offload_;
  RoutedStep routed_;
  StepGraph graph_;
};

}  // namespace plumbline
