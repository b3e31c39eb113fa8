#pragma once
/// \file training_json.h: the recipe of a plan file: what is trained on how much data.
///
/// Precision, gradient precision and optimizer are in the plan's "strategy" (strategy_json.h), once. Reader, writer and
/// models/schemas/plan.schema.json are loops over `training_keys` (tests/golden/plan_schema_test.cpp writes the
/// schema).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"
#include "core/plan/strategy_axes.h"
#include "core/training/training.h"

namespace plumbline {

/// How the value of a key is written: a whole number; the same or null; true or false; one of several names; ranges of
/// layers, [[first,last],...].
enum class TrainingValue : std::uint8_t { number, number_or_null, truth, choice, layer_ranges };

/// A key of "training" in plan files.
struct TrainingKey {
  std::string_view key;        ///< "sequence_length"
  std::string_view in_schema;  ///< what the key, its kind and its limits do not say; or empty
  TrainingValue value;
  InFiles in_files;
  std::int64_t least = 0;            ///< of a number, or of a layer
  std::int64_t most = 1;             ///< as `least`
  std::vector<std::string> names{};  ///< of a choice, in the order of its values
  /// The number, 1 for true, or the place of a choice among its names; nothing: null. Of ranges: no functions.
  std::optional<std::int64_t> (*get)(const Training&) = nullptr;
  void (*set)(Training&, std::int64_t) = nullptr;
};

/// In the order of plan files.
[[nodiscard]] const std::vector<TrainingKey>& training_keys();

/// Every key that is not only where_unusual, and those that are not as usual.
[[nodiscard]] Json to_json(const Training& training);
/// Strict. Keys that are not `required` may be absent. Throws InputError.
[[nodiscard]] Training training_from_json(const JsonPlace& place);

}  // namespace plumbline
