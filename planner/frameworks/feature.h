#pragma once
/// \file feature.h: what of a strategy a training framework may have or lack, one row each.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/plan/strategy.h"

namespace plumbline {

/// What may be more than off or 1.
enum class Feature : std::uint8_t {
  tensor_parallel,
  sequence_parallel,
  context_parallel,
  head_exchange,
  expert_parallel,
  expert_tensor_parallel,
  pipeline,
  virtual_stages,
  hybrid_sharding,
  uneven_split,
  no_prefetch,
  layer_units,
  secondary_shards,
};

struct FeatureRow {
  Feature feature;
  std::string_view name;  ///< behind "has no"
  std::string_view flag;  ///< of this program, that asks for it
  bool (*is_used)(const Strategy&);
};

/// In the order of what a framework is said to lack.
inline constexpr std::array feature_rows{
    FeatureRow{Feature::tensor_parallel, "tensor parallelism", "--tp",
               [](const Strategy& s) { return s.tensor_parallel > 1; }},
    FeatureRow{Feature::sequence_parallel, "sequence parallelism alongside tensor parallelism", "--sequence-parallel",
               [](const Strategy& s) { return s.sequence_parallel == SequenceParallel::on; }},
    FeatureRow{Feature::context_parallel, "context parallelism", "--cp",
               [](const Strategy& s) { return s.context_parallel > 1; }},
    FeatureRow{Feature::head_exchange, "context parallelism by all-to-all", "--cp-comm all-to-all",
               [](const Strategy& s) { return s.exchanges_heads(); }},
    FeatureRow{Feature::expert_parallel, "expert parallelism", "--ep",
               [](const Strategy& s) { return s.expert_parallel > 1; }},
    FeatureRow{Feature::expert_tensor_parallel, "tensor parallelism inside experts", "--etp",
               [](const Strategy& s) { return s.expert_tensor_parallel > 1; }},
    FeatureRow{Feature::pipeline, "pipelines", "--pp", [](const Strategy& s) { return s.pipeline_stages > 1; }},
    FeatureRow{Feature::virtual_stages, "virtual stages", "--virtual-stages",
               [](const Strategy& s) { return s.virtual_stages > 1; }},
    FeatureRow{Feature::hybrid_sharding, "shard groups smaller than the data-parallel ranks", "--shard-group",
               [](const Strategy& s) { return s.is_hybrid(); }},
    FeatureRow{Feature::uneven_split, "layers of each stage by hand", "--layers-per-stage",
               [](const Strategy& s) { return s.split != StageSplit::even || !s.layers_per_stage.empty(); }},
    FeatureRow{Feature::no_prefetch, "gathers of parameters without prefetch", "--prefetch off",
               [](const Strategy& s) { return s.prefetch == ParameterPrefetch::off; }},
    FeatureRow{Feature::layer_units, "units of several layers", "--layers-per-unit",
               [](const Strategy& s) { return s.layers_per_unit != 1; }},
    FeatureRow{Feature::secondary_shards, "secondary shard groups", "--secondary-shard-group",
               [](const Strategy& s) { return s.secondary_shard_group != 1; }}};
static_assert(std::is_sorted(feature_rows.begin(), feature_rows.end(),
                             [](const FeatureRow& a, const FeatureRow& b) { return a.feature < b.feature; }),
              "rows are found by their feature's number");

inline constexpr std::array all_features = [] {
  std::array<Feature, feature_rows.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = feature_rows[i].feature;
  return all;
}();

[[nodiscard]] constexpr const FeatureRow& row_of(Feature feature) {
  return feature_rows[static_cast<std::size_t>(feature)];
}
/// "tensor parallelism", "shard groups smaller than the data-parallel ranks".
[[nodiscard]] constexpr std::string_view to_text(Feature feature) { return row_of(feature).name; }
[[nodiscard]] inline bool uses(Feature feature, const Strategy& strategy) { return row_of(feature).is_used(strategy); }

}  // namespace plumbline
