#pragma once
/// \file fit_row.h: measured steps as a fit sees them: what was measured, how much it weighs, with whom it is left out.
///
/// Only rows with a time; repetitions of one question count once, the fastest. A row's group is its source and model:
/// rows of one group share what is peculiar to them, so a group is fitted or tested as a whole.

#include <string>
#include <vector>

#include "planner/calibrate/row_pricer.h"
#include "planner/pricing/trust.h"
#include "planner/validate/validate.h"

namespace plumbline {

/// The classes that errors are reported by.
enum class RowClass : std::uint8_t {
  a100_dense,
  h100_dense,
  h100_500w_dense,
  v100_dense,
  blackwell_dense,
  mixture,
  other
};
inline constexpr std::array all_row_classes{RowClass::a100_dense, RowClass::h100_dense,      RowClass::h100_500w_dense,
                                            RowClass::v100_dense, RowClass::blackwell_dense, RowClass::mixture,
                                            RowClass::other};
[[nodiscard]] std::string_view to_text(RowClass row_class);

struct FitRow {
  std::string id;
  std::string source;
  std::string model;
  std::string release;   ///< of the software, as published
  std::string group;     ///< left out as a whole
  std::string question;  ///< rows that differ only in how they are parallelised share it (for ranking)
  Device device;
  std::string stack;
  RowClass row_class = RowClass::other;
  RowTrust trust = RowTrust::trusted;
  bool fine_tuning = false;
  double measured_s = 0;
  std::vector<double> repetitions_s;  ///< all measurements of exactly this question
  double weight = 1;                  ///< 0: doubtful, predicted but not fitted
  RunFeatures run;                    ///< as calibrations remember it
  RowPricer pricer;
};

/// A stack with this many rows on a class of devices counts as calibrated there; with fewer, as known from a few.
inline constexpr std::size_t rows_of_calibrated = 8;

struct FitRows {
  std::vector<FitRow> rows;
  std::vector<SkippedRow> skipped;
};

/// In the order of the sets. Never throws for what a row says.
[[nodiscard]] FitRows fit_rows(const std::vector<RowSet>& sets, const RowResolver& resolver);

}  // namespace plumbline
