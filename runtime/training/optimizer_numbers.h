#pragma once
/// \file optimizer_numbers.h: which numbers each optimizer reads, by the names of their flags, with their ranges.
///
/// Answers: one table that flags, records and their readers walk. Source: the optimizers' records
/// (core/training/optimizer.h); ranges as PyTorch's optimizers check them. Not modelled: the learning rate, a schedule
/// of its own (learning_rate.h). Checked against: tests/runtime/training/optimizer_numbers_test.cpp (a number in the
/// table changes what its optimizer does, another one does not).

#include <span>
#include <string_view>

#include "core/measurement/run_record.h"
#include "core/training/optimizer.h"
#include "runtime/training/optimizer_settings.h"

namespace plumbline {

struct OptimizerNumber {
  std::string_view name;  ///< of its flag, without dashes
  float OptimizerSettings::*member;
  double smallest;
  double largest;
  std::string_view help;
  Hyperparameter kind;

  [[nodiscard]] bool is_read_by(Optimizer optimizer) const;
};

[[nodiscard]] std::span<const OptimizerNumber> optimizer_numbers();
/// Those of a run, and its limit of gradient norms, as flags would say them.
[[nodiscard]] OptimizerRecord optimizer_record(Optimizer optimizer, const OptimizerSettings& settings);

}  // namespace plumbline
