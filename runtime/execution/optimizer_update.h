#pragma once
/// \file optimizer_update.h: runs the instructions of a rank's optimizer step on real numbers.
///
/// Model: sums, gathers and calls the device's kernels as the update's program says, in its order, on the compute lane;
/// decides nothing. Source: core/program/update_program.h; core/training/optimizer.h. Checked against:
/// tests/runtime/execution (PyTorch's weights; one rank's for every strategy), matrix_update_test.cpp (Muon).

#include <functional>
#include <span>

#include "core/program/update_program.h"
#include "kernels/adamw.h"
#include "kernels/muon.h"
#include "kernels/reductions.h"
#include "runtime/execution/parameter_memory.h"
#include "runtime/training/optimizer_settings.h"

namespace plumbline {

/// Of one step.
struct UpdateNumbers {
  const OptimizerSettings& settings;
  // In the device's memory.
  const float* learning_rate = nullptr;
  const StepDecision* decision = nullptr;
  TensorHealth* sums = nullptr;         ///< of this rank's gradients
  const std::uint64_t* seed = nullptr;  ///< of run and step, for weights that are rounded by a draw
};

class OptimizerUpdate {
 public:
  explicit OptimizerUpdate(ParameterMemory& memory);

  [[nodiscard]] const UpdateProgram& program() const { return program_; }
  /// `decide`: gives the device the decision on the step, from all ranks' sums.
  void run(const UpdateNumbers& numbers, const std::function<void()>& decide);

 private:
  /// Where a buffer of the program lies.
  struct Room {
    BufferRef bound;  ///< nothing where it is scratch
    float* data = nullptr;
  };
  [[nodiscard]] const OwnedRange& owned(const UpdateInstruction& i) const {
    return memory_.layout.owned[static_cast<std::size_t>(i.owned)];
  }
  /// False: nothing was done, the device takes them one by one.
  [[nodiscard]] bool run_together(std::span<const UpdateInstruction> same, const UpdateNumbers& numbers);
  void run(const UpdateInstruction& i, const UpdateNumbers& numbers, const std::function<void()>& decide);
  [[nodiscard]] float* data(const FloatRows& rows) const;
  void allocate(const UpdateInstruction& i);
  void sum_gradients(const UpdateInstruction& i, TensorHealth* sums);
  void update(const UpdateInstruction& i, const UpdateNumbers& numbers);
  void update_matrix(const UpdateInstruction& i, const UpdateNumbers& numbers);
  /// One of the instructions that are at `places`.
  void factored(const UpdateInstruction& i, const UpdateNumbers& numbers);
  void copy(const UpdateInstruction& i);
  void gather(const UpdateInstruction& i);
  void reduce(const UpdateInstruction& i);
  [[nodiscard]] Communicator& group_of(const UpdateInstruction& i) const;
  /// What every optimizer is given of an owned range.
  [[nodiscard]] OptimizedParameter optimized(const OwnedRange& owned, const UpdateNumbers& numbers) const;
  void step_by_adamw(const UpdateInstruction& i, const UpdateNumbers& numbers);
  [[nodiscard]] AdamwStep adamw_step(const UpdateInstruction& i, const UpdateNumbers& numbers) const;
  [[nodiscard]] MuonStep muon_step(const UpdateInstruction& i, const UpdateNumbers& numbers) const;

  ParameterMemory& memory_;
  const UpdateProgram program_;
  std::vector<Room> rooms_;  ///< by buffer of the program
};

}  // namespace plumbline
