#pragma once
/// \file folds.h: which rows are tested together, never having been fitted.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace plumbline {

/// The fold of every row, from 0 to `count` - 1: rows of one group are in one fold, folds are of about equal size.
/// The larger groups are dealt first, to the fold with fewest rows; ties go by a hash of the group's name, so that the
/// order of the rows does not matter. Throws InternalError for no fold.
[[nodiscard]] std::vector<std::size_t> folds_of(std::span<const std::string> groups, std::size_t count);

}  // namespace plumbline
