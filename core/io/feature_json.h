#pragma once
/// \file feature_json.h: features of software stacks as JSON: {key: {"choice": word, "source": text}}.

#include <vector>

#include "core/cost/stack_feature_table.h"
#include "core/io/json.h"

namespace plumbline {

/// In the order of the file. Strict; throws InputError with the nearest key or word.
[[nodiscard]] std::vector<NamedFeature> features_from_json(const JsonPlace& place);
[[nodiscard]] Json features_json(const std::vector<NamedFeature>& features);

/// A feature as it was spelled when it was a coefficient: `number` is {"value": 0, 1 or 2, "relative_sigma", "kind",
/// "source"}. Throws InputError for a value between two choices.
[[nodiscard]] NamedFeature feature_from_number(const FeatureField& field, const JsonPlace& number);
/// Adds features that were read as numbers; throws InputError for one that is there already.
void add_features(std::vector<NamedFeature>& features, const std::vector<NamedFeature>& more, const JsonPlace& place);

}  // namespace plumbline
