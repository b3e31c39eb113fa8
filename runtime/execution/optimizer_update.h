#pragma once
/// \file optimizer_update.h: an optimizer's step on the elements whose states a rank holds.
///
/// Model: one owned range after another (parameter_layout.h), by the device's kernel of the optimizer; matrices that
/// Muon needs whole, where ranks share or divide them, by matrix_update.h. Source: core/training/optimizer.h. Checked
/// against: tests/runtime/execution (PyTorch's weights; one rank's for every strategy).

#include "runtime/execution/matrix_update.h"

namespace plumbline {

class OptimizerUpdate {
 public:
  explicit OptimizerUpdate(ParameterMemory& memory) : memory_(memory), matrices_(memory) {}

  void update(const UpdateNumbers& numbers);

 private:
  void update_range(const OwnedRange& owned, const UpdateNumbers& numbers);
  void update_matrix(const OwnedRange& owned, const OptimizedParameter& update, const OptimizerSettings& settings);

  ParameterMemory& memory_;
  MatrixUpdate matrices_;
};

}  // namespace plumbline
