#pragma once
/// \file strategy.h: how a training step is spread over GPUs: the choices that a search makes.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/schedule.h"

namespace plumbline {

/// What the backward pass computes again instead of keeping. `selective`: the attention core (scores, softmax,
/// dropout, values), arXiv:2205.05198 section 5. `full`: every layer from its input. `every_nth`: layers 0, n, 2n, ...
/// in full, the others not at all. `by_operator`: all but attention and every second matrix product of each layer
/// (core/cost/kept_by_operator.h). `modules`: chosen parts of each layer (core/cost/recompute_modules.h). `offloaded`:
/// nothing, but what the first n layers keep waits in host memory (core/cost/host_checkpoints.h). `uniform`: full, n
/// layers of a pipeline chunk at a time, of which the first keeps its input and all run again before the backward of
/// the last; `block`: the first n layers of every pipeline chunk in full (Megatron-Core's recompute_method).
/// `square_root`: `uniform` of as many layers as the square root of a chunk's (arXiv:1604.06174). `placed`: for every
/// layer the set of operators that makes its pipeline rank fastest among those that fit (planner/checkpointing).
enum class RecomputeMode : std::uint8_t {
  none,
  selective,
  full,
  every_nth,
  by_operator,
  modules,
  offloaded,
  placed,
  uniform,
  block,
  square_root
};
/// Parts of a layer by Megatron-Core's names (transformer_config.py, recompute_modules): the attention core, the
/// activation of routed experts, the norms before attention and MLP, the up-projections of latent attention with its
/// norms and rotation, the MLP of dense layers, all of a mixture, its shared experts.
enum class RecomputeModule : std::uint8_t { core_attn, moe_act, layernorm, mla_up_proj, mlp, moe, shared_experts };
inline constexpr std::array all_recompute_modules{
    RecomputeModule::core_attn, RecomputeModule::moe_act, RecomputeModule::layernorm,     RecomputeModule::mla_up_proj,
    RecomputeModule::mlp,       RecomputeModule::moe,     RecomputeModule::shared_experts};
[[nodiscard]] std::string_view to_text(RecomputeModule module);
/// A set of modules.
class RecomputeModules {
 public:
  constexpr RecomputeModules() = default;
  constexpr void add(RecomputeModule module) { bits_ = static_cast<std::uint8_t>(bits_ | bit(module)); }
  [[nodiscard]] constexpr bool has(RecomputeModule module) const { return (bits_ & bit(module)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  auto operator<=>(const RecomputeModules&) const = default;

 private:
  [[nodiscard]] static constexpr std::uint8_t bit(RecomputeModule module) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(module));
  }
  std::uint8_t bits_ = 0;
};
struct Recompute {
  RecomputeMode mode = RecomputeMode::none;
  std::int32_t n = 1;  ///< for every_nth and uniform, at least 2; for block and offloaded, layers; otherwise 1
  RecomputeModules modules = {};  ///< for modules
  auto operator<=>(const Recompute&) const = default;
};
/// Whether several layers are replayed as one.
[[nodiscard]] constexpr bool joins_layers(const Recompute& recompute) {
  return recompute.mode == RecomputeMode::uniform || recompute.mode == RecomputeMode::square_root;
}
/// Of `square_root`: the `uniform` that it means where the largest pipeline chunk has `layers`, or `full` where every
/// group is one layer. Any other mode as it is.
[[nodiscard]] Recompute of_chunks(Recompute recompute, std::int64_t layers);
/// A mode as flags and files spell it; ":N" stands for a number of layers, ":MODULE+..." for a set of modules.
struct RecomputeName {
  RecomputeMode mode = RecomputeMode::none;
  std::string_view text;
};
inline constexpr auto recompute_names = std::to_array<RecomputeName>({{RecomputeMode::none, "none"},
                                                                      {RecomputeMode::selective, "selective"},
                                                                      {RecomputeMode::modules, "selective:MODULE+..."},
                                                                      {RecomputeMode::full, "full"},
                                                                      {RecomputeMode::every_nth, "every:N"},
                                                                      {RecomputeMode::uniform, "uniform:N"},
                                                                      {RecomputeMode::block, "block:N"},
                                                                      {RecomputeMode::square_root, "sqrt"},
                                                                      {RecomputeMode::by_operator, "by-operator"},
                                                                      {RecomputeMode::offloaded, "offload:N"},
                                                                      {RecomputeMode::placed, "optimal"}});
[[nodiscard]] std::string_view name_of(RecomputeMode mode);
/// All names, one behind the other.
[[nodiscard]] std::string recompute_names_text(std::string_view between);
/// "none", "selective:mla_up_proj+moe_act", "every:4", ...: of a name with N, the name with the number.
[[nodiscard]] std::string to_text(Recompute recompute);
[[nodiscard]] std::optional<Recompute> recompute_from_text(std::string_view text);

/// Which layers a pipeline chunk holds. `even`: stage_split.h. `balanced`: those that make the step shortest with the
/// strategy's recompute (planner/partition).
enum class StageSplit : std::uint8_t { even, balanced };
inline constexpr std::array all_stage_splits{StageSplit::even, StageSplit::balanced};
[[nodiscard]] std::string_view to_text(StageSplit split);
[[nodiscard]] std::optional<StageSplit> stage_split_from_text(std::string_view text);
/// "20,21,20,19": layers of each chunk in the order of the network.
[[nodiscard]] std::string layers_text(const std::vector<std::int32_t>& layers);

enum class SequenceParallel : std::uint8_t { off, on };
enum class FlashAttention : std::uint8_t { off, on };
/// Whether a unit's parameters are gathered alongside the unit before it, so that two are whole at once, or when the
/// unit begins. Of ZeRO-3.
enum class ParameterPrefetch : std::uint8_t { on, off };

/// How context-parallel ranks bring queries together with the keys of all tokens. `ring`: keys and values travel from
/// rank to rank (arXiv:2310.01889). `all_to_all`: ahead of attention one gathers the sequence and scatters the
/// heads, behind it one scatters the sequence and gathers the heads (DeepSpeed Ulysses, arXiv:2309.14509).
enum class ContextCommunication : std::uint8_t { ring, all_to_all };
inline constexpr std::array all_context_communications{ContextCommunication::ring, ContextCommunication::all_to_all};
/// "ring", "all-to-all".
[[nodiscard]] std::string_view to_text(ContextCommunication communication);
[[nodiscard]] std::optional<ContextCommunication> context_communication_from_text(std::string_view text);

/// Degrees are numbers of ranks; the product of tensor, context, pipeline and data parallelism is the GPU count.
/// Expert parallelism divides the data-, context- and tensor-parallel ranks and does not multiply the GPU count.
struct Strategy {
  std::int32_t pipeline_stages = 1;
  std::int32_t tensor_parallel = 1;
  std::int32_t context_parallel = 1;
  ContextCommunication context_communication = ContextCommunication::ring;
  std::int32_t expert_parallel = 1;
  std::int32_t expert_tensor_parallel = 1;
  std::int32_t data_parallel = 1;
  std::int32_t virtual_stages = 1;
  Schedule schedule = Schedule::none;
  std::int64_t micro_batch = 1;    ///< sequences in one micro-batch of one data-parallel rank
  std::int64_t micro_batches = 1;  ///< per step and data-parallel rank: global batch / (dp * micro_batch)
  std::int32_t zero_stage = 0;
  std::int32_t shard_group = 1;  ///< ranks that share one copy of the sharded states; dp * cp unless hybrid
  ParameterPrefetch prefetch = ParameterPrefetch::on;
  /// Of ZeRO-3: layers whose parameters are gathered, and gradients reduced, at once.
  std::int32_t layers_per_unit = 1;
  /// Of ZeRO-3: ranks that hold all parameters from a forward to its backward, which gathers over them; 1: the backward
  /// gathers over the shard group.
  std::int32_t secondary_shard_group = 1;
  SequenceParallel sequence_parallel = SequenceParallel::off;
  FlashAttention flash_attention = FlashAttention::on;
  Recompute recompute;
  StageSplit split = StageSplit::even;
  std::vector<std::int32_t> layers_per_stage;  ///< by hand, one number for each chunk; empty: as `split` says

  [[nodiscard]] std::int64_t devices() const {
    return std::int64_t{pipeline_stages} * tensor_parallel * context_parallel * data_parallel;
  }
  /// Ranks that hold the same dense parameters: gradients are reduced over them.
  [[nodiscard]] std::int32_t gradient_ranks() const { return data_parallel * context_parallel; }
  /// Ranks that hold the same experts.
  [[nodiscard]] std::int32_t expert_gradient_ranks() const {
    return data_parallel * context_parallel * tensor_parallel / (expert_parallel * expert_tensor_parallel);
  }
  /// Whether there are several copies of the sharded states (hybrid sharding, HSDP).
  [[nodiscard]] bool is_hybrid() const { return zero_stage > 0 && shard_group != gradient_ranks(); }
  /// Divides what the ZeRO stage divides over all ranks that hold the same parameters.
  void shard_over_all() { shard_group = zero_stage > 0 ? gradient_ranks() : 1; }
  /// Whether context-parallel ranks scatter the heads of attention and gather its sequence.
  [[nodiscard]] bool exchanges_heads() const {
    return context_parallel > 1 && context_communication == ContextCommunication::all_to_all;
  }
  /// Sequences of one micro-batch of every data-parallel rank.
  [[nodiscard]] std::int64_t sequences_at_once() const { return std::int64_t{data_parallel} * micro_batch; }
  /// Sequences of a step: the global batch.
  [[nodiscard]] std::int64_t batch() const { return sequences_at_once() * micro_batches; }
  /// Sets micro_batches to those of a step of `global_batch` sequences, rounded down. False if they leave a remainder.
  [[nodiscard]] bool set_batch(std::int64_t global_batch) {
    micro_batches = global_batch / sequences_at_once();
    return batch() == global_batch;
  }
  [[nodiscard]] std::int32_t chunks() const { return pipeline_stages * virtual_stages; }
  /// The order of enumeration and the last tie-break of every ranking: simple and small first.
  auto operator<=>(const Strategy&) const = default;
};

/// Whether there are several secondary shard groups in a shard group, or none are asked for.
[[nodiscard]] constexpr bool divides_shard_group(const Strategy& s) {
  const std::int32_t ranks = s.secondary_shard_group;
  return ranks == 1 || (ranks > 1 && ranks < s.shard_group && s.shard_group % ranks == 0);
}

/// What of a price a search makes once for all strategies that have the same value of an axis.
enum class PricedIn : std::uint8_t {
  blocks,   ///< the costs of a block (planner/search/block_tables.h)
  layouts,  ///< what pipeline ranks hold (layout_key in core/cost/stage_cost.h)
  sharing,  ///< neither: how states are shared, which the plans of one family differ by (planner/search/space.h)
  plans     ///< what follows from other axes, or what those tables take only a part of
};

/// Every axis, in the order of flags in commands and help; the row of each is made by a file that axis_row.h names.
/// AXIS(member of Strategy, PricedIn): a choice of one value that a search may be told to keep to and a launch file may
/// name. OTHER(member): one that follows from the question, or that searches choose by rules of their own.
#define PLUMBLINE_STRATEGY_ROWS(AXIS, OTHER) \
  AXIS(tensor_parallel, blocks)              \
  AXIS(pipeline_stages, layouts)             \
  AXIS(context_parallel, blocks)             \
  AXIS(context_communication, blocks)        \
  AXIS(expert_parallel, blocks)              \
  AXIS(expert_tensor_parallel, blocks)       \
  AXIS(data_parallel, plans)                 \
  AXIS(virtual_stages, layouts)              \
  AXIS(schedule, plans)                      \
  AXIS(micro_batch, blocks)                  \
  OTHER(micro_batches)                       \
  AXIS(zero_stage, sharing)                  \
  AXIS(shard_group, sharing)                 \
  AXIS(prefetch, sharing)                    \
  AXIS(layers_per_unit, layouts)             \
  AXIS(secondary_shard_group, sharing)       \
  AXIS(sequence_parallel, blocks)            \
  AXIS(flash_attention, blocks)              \
  AXIS(recompute, plans)                     \
  OTHER(layers_per_stage)                    \
  OTHER(split)

/// Those of one value. Lists, optionals and keys of these members are made by it (core/plan/priced_values.h).
#define PLUMBLINE_STRATEGY_AXES(AXIS) PLUMBLINE_STRATEGY_ROWS(AXIS, PLUMBLINE_NO_AXIS)
#define PLUMBLINE_NO_AXIS(MEMBER)

/// "3"; of shard groups smaller than the ranks that hold the same parameters "3/8".
[[nodiscard]] std::string zero_text(const Strategy& strategy);
/// One line: "tp 8 pp 4 dp 2 ... 1f1b mbs 1 x 64 full zero-1".
[[nodiscard]] std::string to_text(const Strategy& strategy);

}  // namespace plumbline
