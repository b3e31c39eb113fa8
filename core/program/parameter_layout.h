#pragma once
/// \file parameter_layout.h: which part of which parameter a rank holds, and where it lies in the rank's flat buffers.
///
/// Answers: elements and offsets, for weights, gradients and optimizer state. Model: a unit is one execution of a
/// block, or several layers where the strategy says so, named by the first; its parameters lie one after another in
/// sections (dense or expert, trained or frozen, a tied embedding whose copy is on another rank by itself, so that both
/// ends divide it alike), each padded as core/cost/rank_parameters.h predicts it, so that all data-parallel ranks send
/// and hold equal parts. Weights are whole below ZeRO-3, gradients below ZeRO-2; master copies and moments are parts
/// from ZeRO-1 on. A tied head on the embedding's rank is the embedding, which stays whole from one to the other.
/// Source: core/sharding/shard.h (what tensor and expert parallelism divide); ZeRO, arXiv:1910.02054, section 5. Not
/// modelled: kv heads that tensor parallelism replicates, widths that it does not divide (refused). Checked against:
/// tests/runtime/execution, where ranks hold the bytes that core/cost/rank_parameters.h predicts and their slices tile
/// every tensor.

#include <string>
#include <vector>

#include "core/base/tensor_box.h"
#include "core/graph/graph.h"
#include "core/plan/stage_split.h"
#include "core/sharding/factored_squares.h"
#include "core/sharding/shard.h"

namespace plumbline {

/// How a parameter starts (runtime/execution/parameter_init.h).
enum class InitialValues : std::uint8_t { normal, ones, zeros };

struct LocalParameter {
  std::string name;  ///< "layers.3.attention.qkv.q.weight": the same for every layout
  std::int32_t execution = 0;
  TensorId tensor;
  TensorBox box;
  InitialValues starts = InitialValues::normal;
  bool is_trained = true;
  bool is_expert = false;
  bool is_layer_matrix = false;       ///< core/sharding/layer_matrix.h
  bool has_quantized_states = false;  ///< core/sharding/layer_matrix.h, where the optimizer quantizes states
  bool is_replicated = false;         ///< whole on every tensor-parallel rank
  bool is_partial = false;            ///< replicated, but its gradient is made from a part of the tokens or heads
  bool is_divided = false;            ///< over tensor-parallel ranks
  bool is_copy = false;               ///< of a tied embedding that another rank holds too
  bool is_end = false;                ///< a tied embedding whose other copy is on another rank, or that copy
  std::int32_t dimensions = 1;
  std::int64_t heads = 0;    ///< that its rows belong to; 0: none
  std::int32_t section = 0;  ///< of the rank
  std::int64_t first = 0;    ///< element of its section
  std::int64_t squares = 0;  ///< of an optimizer that factors squares: offset in its state of `squares_kept()`

  [[nodiscard]] std::int64_t elements() const { return box.elements(); }
  /// As kernels see it: the leading dimensions are rows.
  [[nodiscard]] std::int64_t columns() const { return box.extent[2]; }
  [[nodiscard]] std::int64_t rows() const { return elements() / columns(); }

  /// Of squared gradients what is kept by row, of vectors by element: a box of the whole tensor's.
  [[nodiscard]] TensorBox row_squares() const {
    return dimensions == 1 ? box
                           : TensorBox{{box.whole[0], box.whole[1], 1},
                                       {box.begin[0], box.begin[1], 0},
                                       {box.extent[0], box.extent[1], 1}};
  }
  /// And by column; none of vectors.
  [[nodiscard]] TensorBox column_squares() const {
    return {{box.whole[0], 1, box.whole[2]},
            {box.begin[0], 0, box.begin[2]},
            {box.extent[0], dimensions == 1 ? 0 : 1, box.extent[2]}};
  }
  [[nodiscard]] std::int64_t squares_kept() const { return row_squares().elements() + column_squares().elements(); }
  /// What ranks sum; `divides`: of which each holds a slice.
  [[nodiscard]] FactoredSums factored_sums(bool divides) const;
};

/// Parameters of one unit that the same ranks share. Offsets count elements of the flat buffers.
struct Section {
  std::int32_t execution = 0;  ///< the unit's first
  bool is_expert = false;
  bool is_trained = true;
  bool is_end = false;  ///< of a tied embedding
  std::int64_t elements = 0;
  std::int64_t padded = 0;
  std::int32_t ranks = 1;         ///< that share its states
  std::int32_t rank = 0;          ///< this one among them
  std::int64_t weights = 0;       ///< offset in the weights held
  std::int64_t gradients = 0;     ///< offset in the gradients held
  std::int64_t states = 0;        ///< offset in the master copies held
  std::int64_t unit_first = 0;    ///< offset in the unit when it is whole
  std::int64_t unit_trained = 0;  ///< offset in the unit's gradients when they are whole
  // Of ZeRO-3, from which ranks a backward gathers it:
  std::int32_t secondary_ranks = 1;  ///< as many as `ranks`: from those
  std::int32_t secondary_rank = 0;   ///< this one among them
  std::int64_t secondary = 0;        ///< offset in the secondary shards

  [[nodiscard]] bool has_secondary() const { return secondary_ranks != ranks; }
  [[nodiscard]] std::int64_t secondary_part() const { return padded / secondary_ranks; }
  [[nodiscard]] std::int64_t part() const { return padded / ranks; }
  [[nodiscard]] std::int64_t part_begin() const { return rank * part(); }
};

/// Of one unit, padded.
struct UnitElements {
  std::int64_t whole = 0;
  std::int64_t trained = 0;
};

/// Values of the optimizer's state that one moment of `count` neighbours of a parameter takes.
[[nodiscard]] std::int64_t moment_values(const LocalParameter& parameter, std::int64_t count);
/// Moments that the optimizer keeps for each element of a parameter.
[[nodiscard]] int moments_of(const LocalParameter& parameter, Optimizer optimizer);
/// Elements of the parameter's box that lie in this rank's part of the section; none where `count` is 0.
[[nodiscard]] ElementRange own_part(const LocalParameter& parameter, const Section& section);

/// Elements [first, first + count) of a parameter's box, whose states this rank holds.
struct OwnedRange {
  std::int32_t parameter = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t states = 0;                ///< offset in the master copies
  std::array<std::int64_t, 2> moments{};  ///< offsets in the optimizer's state
};

struct ParameterLayout {
  std::vector<LocalParameter> parameters;
  std::vector<Section> sections;
  std::vector<OwnedRange> owned;  ///< trained ones
  std::int64_t weights = 0;       ///< elements held
  std::int64_t gradients = 0;
  std::int64_t states = 0;
  std::int64_t moments = 0;
  std::int64_t secondary = 0;  ///< from forwards to backwards
  /// Of units that are whole at once: two neighbours, without prefetch one; and what stays.
  std::int64_t whole_units = 0;
  std::int64_t whole_units_trained = 0;  ///< of their gradients: always two neighbours
  std::vector<UnitElements> units;       ///< by execution of the network: of the units that begin there
  std::vector<std::int32_t> unit_of;     ///< by execution of the network: the first of its unit
  std::vector<std::string> unit_names;   ///< "input", "layers.3", "output": likewise
  std::int64_t tied_embedding = -1;      ///< trained parameter whose gradient both ends of a pipeline sum; -1: none

  /// A unit that a later one of the same pass reads too, so that it stays whole from one to the other: the embedding
  /// of a tied head; -1: none.
  std::int32_t staying_unit = -1;
  std::int32_t staying_for = -1;  ///< unit

  /// The parameter that an op of an execution reads as `tensor`; -1: none.
  [[nodiscard]] std::int32_t find(std::int32_t execution, TensorId tensor) const;

  std::vector<std::vector<std::int32_t>> index;  ///< by execution of the network and tensor
};

/// `chunks`: the executions that the rank runs, in the order of the network. The strategy keeps the rules of
/// core/plan/execution_rules.h.
[[nodiscard]] ParameterLayout parameter_layout(const Graph& graph, const Strategy& strategy, const Training& training,
                                               const std::vector<Chunk>& chunks, std::int32_t rank);

}  // namespace plumbline
