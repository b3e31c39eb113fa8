#pragma once
/// \file parameter_priors.h: what is known of a calibration's numbers before any training run is looked at.
///
/// A table of path patterns, each with a value and how far from it the number may be: physics, datasheets and
/// measurements of single kernels. models/calibrations/priors.json ("plumbline.priors/1"); the first entry that matches
/// a path decides; what matches none is not fitted.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"
#include "models/parameter_id.h"

namespace plumbline {

struct ParameterPrior {
  std::vector<std::string> paths;  ///< texts of ids, in which '*' stands for any text
  double value = 0;                ///< above 0
  double relative_sigma = 0;       ///< of its logarithm, above 0
  std::optional<double> smallest;  ///< tighter than the coefficient's own range
  std::optional<double> largest;
  /// A number that this one lies around (a mean over stacks); `value` is then the ratio to it.
  std::optional<ParameterId> around;
  std::string source;
};

using PriorTable = std::vector<ParameterPrior>;

/// Strict; throws InputError.
[[nodiscard]] PriorTable priors_from_json(const JsonPlace& root);
/// models/calibrations/priors.json.
[[nodiscard]] PriorTable shipped_priors();
/// The entry that decides a number, or null pointer.
[[nodiscard]] const ParameterPrior* prior_of(const PriorTable& table, const ParameterId& id);
[[nodiscard]] bool matches_path(std::string_view pattern, std::string_view path);

}  // namespace plumbline
