#pragma once
/// \file folds.h: which runs are tested together, never having been fitted.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace plumbline {

/// The fold of each run, from 0 to `count` - 1. Runs of a group share a fold, and folds are of about equal size.
/// The larger groups are dealt first, to the fold with fewest runs; ties go by a hash of the group's name, so that the
/// order of the runs does not matter. Throws InternalError for no fold.
[[nodiscard]] std::vector<std::size_t> folds_of(std::span<const std::string> groups, std::size_t count);

}  // namespace plumbline
