#pragma once
/// \file typical_rows.h: a few rows that stand for many.
///
/// Answers indices of rows. Model: medoids of what the rows ask (FitRow::features): those for which the sum of
/// distances from every candidate to the nearest chosen one is least, so that they differ from each other and none is
/// an exception. Reads questions only, never what was measured. Source: Kaufman & Rousseeuw, "Clustering by means of
/// medoids", 1987 (build, then swap). Not modelled: weights. Checked against:
/// tests/unit/planner/calibrate/typical_rows_test.cpp (every choice).

#include "planner/calibrate/fit_row.h"

namespace plumbline {

/// `count` of `candidates` (all of them where there are fewer), in order of choice; the same for the same questions.
[[nodiscard]] std::vector<std::size_t> typical_rows(const std::vector<FitRow>& rows,
                                                    const std::vector<std::size_t>& candidates, std::size_t count);

/// The sum of distances from the candidates to the nearest of `chosen`: what typical_rows makes small.
[[nodiscard]] double distance_to_nearest(const std::vector<FitRow>& rows, const std::vector<std::size_t>& candidates,
                                         const std::vector<std::size_t>& chosen);

}  // namespace plumbline
