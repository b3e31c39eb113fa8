#pragma once
/// \file stage_units.h: the units of several layers that a pipeline rank gathers and reduces.
///
/// Answers which blocks each holds, and its parameters. Model: `layers` consecutive layers of a chunk
/// (sharding_units, core/plan/stage_split.h); which blocks a unit holds decides its parameters, their order does not.
/// Source: PyTorch's FullyShardedDataParallel (flat parameters). Not modelled: units that hold so many parameters, not
/// so many layers. Checked against: tests/unit/core/cost/layer_units_test.cpp (by hand);
/// tests/runtime/execution/layer_units_test.cpp (bytes held and sent).

#include <functional>

#include "core/cost/stage_cost.h"

namespace plumbline {

/// Equal units are counted, each once.
void add_unit(std::vector<UnitContent>& units, const UnitContent& more);
/// `layers`: of a unit. None where every execution is one. `site`: whose costs of blocks they name.
[[nodiscard]] std::vector<UnitContent> unit_contents(const Graph& graph, Chunk chunk, std::int32_t layers,
                                                     std::int32_t site);
/// By index into the sizes of blocks.
using ParametersOfBlock = std::function<const RankParameters&(std::int32_t block)>;
/// The units of blocks in `sizes` become those that several layers make together.
void join_units(StageSizes& sizes, const RankContent& content, const ParametersOfBlock& parameters_of);

}  // namespace plumbline
