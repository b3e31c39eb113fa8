#pragma once
/// \file memory_basis.h: a published memory figure and the prediction that it may be compared with.
///
/// Sources count different bytes: tensors alive ("allocated"), what the caching allocator holds ("reserved"), or all
/// that a device reports ("device"); of the heaviest, first or last rank; in 10^9 or 2^30 bytes. A field of that name
/// says which; measured keys that carry basis and unit in their name need none.

#include <optional>

#include "core/measurement/measured_run.h"
#include "core/plan/estimate.h"

namespace plumbline {

struct MemoryFigure {
  double bytes = 0;
  MemoryBasis basis = MemoryBasis::device_total;
  MemoryRank rank = MemoryRank::heaviest;
};

/// Nothing when no memory was measured. `fields` after the rules.
[[nodiscard]] std::optional<MemoryFigure> memory_figure(const RunMeasurement& measured, const RunFields& fields);
/// The predicted bytes on the same basis and rank.
[[nodiscard]] double predicted_bytes(const Prediction& prediction, const MemoryFigure& figure);

}  // namespace plumbline
