#pragma once
/// \file matrix_update.h: Muon where ranks share a matrix's states or divide the matrix.
///
/// Model: directions are gathered, the whole is orthogonalised, and each rank takes the elements that it updates.
/// Source: core/cost/matrix_gathers.h (what is sent and held).
/// Checked against: tests/runtime/execution/matrix_update_test.cpp.

#include "kernels/muon.h"
#include "runtime/execution/parameter_memory.h"
#include "runtime/training/optimizer_settings.h"

namespace plumbline {

/// Of one step, for all owned ranges.
struct UpdateNumbers {
  const OptimizerSettings& settings;
  // In the device's memory.
  const float* learning_rate = nullptr;
  const StepDecision* decision = nullptr;
  const std::uint64_t* seed = nullptr;  ///< of run and step, for weights that are rounded by a draw
};

/// What every optimizer is given of an owned range.
[[nodiscard]] OptimizedParameter optimized(const ParameterMemory& memory, const OwnedRange& owned,
                                           const UpdateNumbers& numbers);

class MatrixUpdate {
 public:
  explicit MatrixUpdate(ParameterMemory& memory) : memory_(memory) {}

  /// Whether ranks share or divide what the optimizer needs whole.
  [[nodiscard]] bool gathers() const;
  void update(const UpdateNumbers& numbers);

 private:
  struct Gathered;
  [[nodiscard]] MuonStep step_of(const OwnedRange& owned, const UpdateNumbers& numbers) const;
  /// On the compute lane.
  void gather_floats(Communicator& group, std::span<const std::byte> own, std::span<std::byte> all);
  void gather_directions(const Section& section, const Gathered& update);
  void update_matrix(std::int32_t parameter, const Section& section, const Gathered& update);
  /// Ranks that each hold a part of every matrix of a parameter.
  [[nodiscard]] std::int64_t dividing_ranks(const LocalParameter& parameter) const;
  /// The direction of whole matrices, from those that ranks which divide them hold.
  void gather_slices(const LocalParameter& parameter, const float* own, const Gathered& update, float* whole);

  ParameterMemory& memory_;
};

}  // namespace plumbline
