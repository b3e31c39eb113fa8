#pragma once
/// \file exposed_partition.h: stage partition when each stage has work that only the drain of the pipeline can hide.
///
/// Answers layers and option per stage and the objective (m - 1) max t + sum t + max(0, max_s(d_s - sum_{j<s} t_j)) in
/// picoseconds: a stage's gradient reduction and optimizer work d_s starts when its backward ends, earlier stages still
/// run. Model: sum t + max(0, ...) is the longest path q <- t_s + max(q, d_s), monotone in q, so one number per stage
/// is all a dynamic programme needs; thresholds on max t as in partition.h. A stage may have several options (t, d),
/// of which the objective chooses.
/// Source: Zhu et al., Mist, EuroSys'25 (the objective). Of equal partitions any may be returned.
/// Not modelled: the exact makespan of 1F1B (partition.h).
/// Checked against: tests/reference/oracles/partition_oracles_test.cpp (dpdelta-*), all choices by brute force, exact.

#include <functional>
#include <optional>
#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

struct ExposedOption {
  Picoseconds time{0};     ///< t: forward and backward of a micro-batch
  Picoseconds exposed{0};  ///< d: what follows the last backward
};
/// The options of a stage with layers [first, last); none: it cannot hold them.
using ExposedOptions =
    std::function<const std::vector<ExposedOption>&(std::int32_t stage, std::int32_t first, std::int32_t last)>;

struct ExposedPartition {
  std::vector<std::int32_t> layers;
  std::vector<std::int32_t> option;  ///< by stage
  Picoseconds value{0};
};
[[nodiscard]] std::optional<ExposedPartition> exposed_partition(std::int32_t stages, std::int32_t layers,
                                                                const ExposedOptions& options,
                                                                std::int64_t micro_batches);

}  // namespace plumbline
