#pragma once
/// \file rank_environment.h: what the operators of one rank share: shapes, formats, memory, parameters, groups, tokens.
///
/// Checked against: tests/runtime/execution.

#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "core/base/found_by_name.h"
#include "core/graph/operator_constants.h"
#include "runtime/execution/expert_routes.h"
#include "runtime/execution/group_calls.h"
#include "runtime/execution/host_pool.h"
#include "runtime/execution/parameter_store.h"
#include "runtime/execution/product_operands.h"
#include "runtime/execution/step_inputs.h"
#include "runtime/execution/step_scalars.h"
#include "runtime/execution/step_tokens.h"

namespace plumbline {

/// Who chooses a token's experts. `learned`: the router, dropless. `balanced`: the token's place in the batch, in turn,
/// weighted by the router; every rank gets the rows that memory and wire are predicted for. Source: Megatron-LM's
/// --moe-router-force-load-balancing, with which benchmarks run.
enum class ExpertRouting : std::uint8_t { learned, balanced };
inline constexpr std::array all_expert_routings{ExpertRouting::learned, ExpertRouting::balanced};
[[nodiscard]] constexpr std::string_view to_text(ExpertRouting routing) {
  return routing == ExpertRouting::learned ? "learned" : "balanced";
}
[[nodiscard]] constexpr std::optional<ExpertRouting> expert_routing_from_text(std::string_view text) {
  return value_named(all_expert_routings, text);
}

/// Of a micro-batch, in the device's memory.
struct LocalBatch {
  const std::int32_t* tokens = nullptr;
  const std::int32_t* targets = nullptr;
  std::int64_t first_sequence = 0;  ///< of the global batch
};

class RankEnvironment;

/// Looks at what the loss reads, before it becomes its own gradient. `first_class`: of its columns.
using LogitsVisit = std::function<void(const RankEnvironment&, ConstTensorView logits, std::int64_t first_class)>;

class RankEnvironment {
 public:
  RankEnvironment(const Strategy& strategy, const Training& training, RankGroups& of_rank, Backend& memory,
                  ComputeDevice& of_lanes, ParameterStore& store, Fp8Scaling scaling)
      : shard(shard_of(strategy, training)),
        formats(training.formats()),
        groups(of_rank),
        backend(memory),
        device(of_lanes),
        group_calls(of_rank, memory, of_lanes),
        parameters(store),
        operands(memory, of_lanes.kernels(), scaling),
        route_tables(memory),
        host(of_lanes),
        scalars(of_rank.everyone(), memory, of_lanes),
        inputs(memory, of_lanes),
        tokens(of_lanes, strategy.micro_batches, shard.lengths.batch * local_sequence()) {
    reserve_ids();
  }

  Shard shard;
  PrecisionFormats formats;
  RankGroups& groups;
  Backend& backend;
  ComputeDevice& device;
  GroupCalls group_calls;
  ParameterStore& parameters;
  ProductOperands operands;
  RouteTables route_tables;
  HostPool host;  ///< for what leaves the device
  StepScalars scalars;
  StepInputs inputs;
  StepTokens tokens;
  OperatorConstants constants;
  ExpertRouting routing = ExpertRouting::learned;

  // Of the action at hand.
  LocalBatch batch;
  float gradient_scale = 1;    ///< 1 / tokens of the global batch; beside it the loss scale (scalars)
  LogitsVisit on_logits;       ///< of the step at hand; empty: nobody looks
  bool is_evaluating = false;  ///< a forward without a backward: nothing is dropped
  bool is_rehearsal = false;   ///< nothing is computed or sent (step_memory.h): ranks get equal shares of routed rows

  /// Whether tensor-parallel ranks hold slices of the tokens between their regions.
  [[nodiscard]] bool slices_tokens() const {
    return shard.sequence_parallel == SequenceParallel::on && shard.tensor_parallel > 1;
  }
  [[nodiscard]] RouterWeights router_weights() const {
    return constants.expert_weights == ExpertWeights::normalised ? RouterWeights::normalised
                                                                 : RouterWeights::probability;
  }
  [[nodiscard]] ExpertPlace expert_place() const {
    return {shard.expert_parallel, groups.index(Axis::expert), shard.expert_tensor_parallel,
            groups.index(Axis::expert_tensor)};
  }
  [[nodiscard]] std::int64_t local_sequence() const { return shard.lengths.sequence / shard.context_parallel; }

  /// `batch` has the tokens of this one from here on, which are in `tokens`.
  void fetch_batch(std::int32_t micro_batch);
  /// Reserves what a step of `rehearsed` reserved alongside its tensors.
  void prepare_as(const RankEnvironment& rehearsed);
  /// Of rotary positions, in the device's memory.
  [[nodiscard]] const float* frequencies(std::int64_t rotary_dim);

  /// Calls `act(place, first row, rows)` for each run of rows that lie in one sequence. `sliced`: the rows are this
  /// tensor-parallel rank's slice.
  template <class Act>
  void for_row_places(std::int64_t rows, bool sliced, Act act) const {
    const std::int64_t length = local_sequence();
    const std::int64_t begin = sliced ? groups.index(Axis::tensor) * rows : 0;
    for (std::int64_t row = 0; row < rows;) {
      const std::int64_t at = begin + row;
      const std::int64_t count = std::min(rows - row, length - at % length);
      const RowPlace place{count, groups.index(Axis::context) * length + at % length, shard.lengths.sequence,
                           batch.first_sequence + at / length};
      act(place, row, count);
      row += count;
    }
  }

 private:
  void reserve_ids();

  std::int32_t* ids_ = nullptr;                 ///< tokens, then targets
  std::map<std::int64_t, float*> frequencies_;  ///< by features that turn
};

}  // namespace plumbline
