#pragma once
/// \file parameter_store.h: a rank's weights, gradients and optimizer state: gathered, reduced and updated.
///
/// Answers: views for kernels. Model: flat buffers (parameter_layout.h). Gradients are sums over all tokens of the
/// batch. A unit of ZeRO-3 is gathered into one of two slots, and so are whole gradients under ZeRO-2 and 3, until they
/// are reduced into the rank's part; the embedding of a tied head has a place of its own behind them, for a whole pass.
/// What an optimizer has updated is gathered before the next step. Gathers and reductions are work of the device's data
/// lane: they are only given to it here, and buffers that they use are given up, or used again, once they have run.
/// Source: ZeRO, arXiv:1910.02054, section 5; PyTorch's FSDP2 (two buffers of each kind).
/// Not modelled: reductions in another format than the gradients'.
/// Checked against: tests/runtime/execution (numbers and bytes of every strategy).

#include <functional>
#include <span>

#include "kernels/muon.h"
#include "kernels/reductions.h"
#include "runtime/device/compute_device.h"
#include "runtime/execution/backend.h"
#include "runtime/execution/state_parts.h"
#include "runtime/training/optimizer_settings.h"

namespace plumbline {

enum class ParameterPart : std::uint8_t { weights, gradients };

/// Elements that pass between the host and the device at a time: bounds the scratch memory.
inline constexpr std::int64_t most_host_elements = 1 << 16;

/// What an element of a whole tensor starts with: its parameter and its index in the whole.
using FirstWeights = std::function<float(const LocalParameter&, std::int64_t)>;

class ParameterStore {
 public:
  ParameterStore(ParameterLayout layout, const Strategy& strategy, const Training& training, RankGroups& groups,
                 Backend& backend, ComputeDevice& device);

  void initialise(const FirstWeights& first);
  [[nodiscard]] const ParameterLayout& layout() const { return layout_; }

  /// Views of an op's parameter; [rows, columns]. A gradient's is nothing where the parameter is frozen.
  [[nodiscard]] ConstTensorView weight(std::int32_t execution, TensorId tensor) const;
  [[nodiscard]] TensorView gradient(std::int32_t execution, TensorId tensor);

  void begin_step();  ///< gradients become 0
  /// ZeRO-3: the unit whole, in a slot. ZeRO-1 and 2: what was updated.
  void gather(std::int32_t execution);
  void release_gathered();
  /// Before an execution's weight gradients are made.
  void open_gradients(std::int32_t execution);
  void release_gradients();
  /// ZeRO-2 and 3: a unit's gradients of one micro-batch into the rank's part.
  void scatter(std::int32_t execution);
  /// Once per step: what has to be summed over ranks of a unit's accumulated gradients.
  void reduce(std::int32_t execution);
  /// Whether that is anything.
  [[nodiscard]] bool is_reduced(std::int32_t execution) const;
  /// Both copies of a tied embedding get the sum of both gradients.
  void reduce_tied();
  [[nodiscard]] bool has_tied_copy() const { return layout_.tied_embedding >= 0; }
  /// Gradients of what every tensor-parallel rank holds whole, but makes from a part of the tokens or heads: packed
  /// into one buffer, whatever part of them the rank has.
  void reduce_partial();
  [[nodiscard]] bool has_partial() const;

  /// Of the gradients of trained elements that this rank answers for in the whole run; `sum` in the device's memory.
  void add_health(TensorHealth* sum) const;
  /// `factor`: on gradients (1 / loss scale * clip factor). `step` counts from 1.
  void update(const OptimizerSettings& settings, double learning_rate, double factor, std::int64_t step);

  /// `visit(name, whole box, index in the whole tensor, value)` for every element that this rank answers for.
  using Visit = std::function<void(const LocalParameter&, std::int64_t, float)>;
  void visit(ParameterPart what, const Visit& visit) const;
  /// Elements of the state as they lie in the device's memory.
  struct StateData {
    NumberFormat format = NumberFormat::fp32;
    std::span<std::byte> data;
  };
  [[nodiscard]] StateData state(const StateRange& range) const;
  /// A part of them, `elements` counted from the range's first, to the host and back.
  [[nodiscard]] std::vector<std::byte> downloaded(const StateRange& range, ElementRange elements) const;
  void upload(const StateRange& range, std::int64_t first, std::span<const std::byte> data);
  /// Of what this rank answers for in a checkpoint.
  [[nodiscard]] bool has_non_finite_state() const;
  /// `look(parameter, elements, bytes)` for all weights, master copies and moments that are up to date on this rank.
  /// The bytes are the host's.
  using Look = std::function<void(const LocalParameter&, ElementRange, std::span<const std::byte>)>;
  void look_at_state(const Look& look) const;

 private:
  struct Slots {
    BufferRef memory;
    std::array<std::int32_t, 2> execution{-1, -1};
    std::array<Mark, 3> busy;  ///< until when the data lane works on each, and on the unit that stays
    std::int32_t next = 0;
    bool holds_staying = false;  ///< the unit that stays, behind the two slots
    [[nodiscard]] std::int32_t find(std::int32_t unit) const;
    [[nodiscard]] Mark& busy_with(std::int32_t unit) { return find(unit) < 0 ? busy.back() : busy[slot(unit)]; }
    [[nodiscard]] std::size_t slot(std::int32_t unit) const { return static_cast<std::size_t>(find(unit)); }
  };
  [[nodiscard]] bool answers_for(const LocalParameter& parameter) const;
  [[nodiscard]] Communicator& shard_group(const Section& section) const;
  [[nodiscard]] Communicator& replicate_group(const Section& section) const;
  [[nodiscard]] std::span<std::byte> weight_part(const Section& section) const;
  [[nodiscard]] std::span<std::byte> gradient_part(const Section& section) const;
  [[nodiscard]] std::span<std::byte> whole_gradient(const Section& section) const;
  [[nodiscard]] std::byte* unit_slot(const Slots& slots, std::int32_t execution, std::int64_t UnitElements::*size,
                                     NumberFormat format) const;
  [[nodiscard]] TensorView owned_weight(const OwnedRange& owned) const;
  [[nodiscard]] TensorView owned_gradient(const OwnedRange& owned) const;
  /// What the optimizer steps from: the master copy, or the weight itself.
  [[nodiscard]] TensorView owned_master(const OwnedRange& owned) const;
  [[nodiscard]] BufferRef persistent(MemoryClass memory_class, Bytes bytes) const;
  void put_first_weights(const FirstWeights& first, const LocalParameter& parameter, std::int64_t begin,
                         const TensorView& to) const;
  /// One row, as floats of the host.
  [[nodiscard]] std::vector<float> values_of(const ConstTensorView& row) const;
  [[nodiscard]] std::vector<std::byte> downloaded(const void* from, Bytes bytes) const;
  /// Gives back the slots' memory once nothing works on it.
  void release(Slots& slots);
  template <class Work>
  void enqueue(Work work) {
    device_.enqueue(Stream::data, std::move(work));
  }
  void gather_sections(std::int32_t execution);
  /// The unit that stays, unless it is there.
  void gather_staying();
  void open_staying_gradients();
  void bind_gradient_slots();
  /// What every optimizer is given of an owned range.
  [[nodiscard]] OptimizedParameter optimized(const OwnedRange& owned, const OptimizerSettings& settings,
                                             double learning_rate, double factor) const;
  [[nodiscard]] TensorView moment(const OwnedRange& owned, std::size_t state) const;
  void update_range(const OwnedRange& owned, const OptimizedParameter& update, const OptimizerSettings& settings,
                    std::int64_t step);
  // Of matrices that the optimizer needs whole (matrix_update.cpp):
  struct MatrixUpdate;
  /// Whether ranks share or divide what the optimizer needs whole.
  [[nodiscard]] bool gathers_matrices() const;
  void update_matrices(const OptimizerSettings& settings, double learning_rate, double factor);
  [[nodiscard]] MuonStep muon_step_of(const OwnedRange& owned, const MatrixUpdate& update) const;
  /// On the compute lane.
  void gather_floats(Communicator& group, std::span<const std::byte> own, std::span<std::byte> all);
  void gather_directions(const Section& section, const MatrixUpdate& update);
  void update_matrix(std::int32_t parameter, const Section& section, const MatrixUpdate& update);
  /// Ranks that each hold a part of every matrix of a parameter.
  [[nodiscard]] std::int64_t dividing_ranks(const LocalParameter& parameter) const;
  /// The direction of whole matrices, from those that ranks which divide them hold.
  void gather_slices(const LocalParameter& parameter, const float* own, const MatrixUpdate& update, float* whole);
  template <class Do>
  void for_sections(std::int32_t execution, Do act) const;

  ParameterLayout layout_;
  Strategy strategy_;
  Training training_;
  PrecisionFormats formats_;
  Optimizer optimizer_;
  RankGroups& groups_;
  Backend& backend_;
  ComputeDevice& device_;
  BufferRef weights_;
  BufferRef gradients_;
  BufferRef masters_;
  BufferRef moments_;
  Slots gathered_;
  Slots made_;
  std::vector<bool> is_stale_;  ///< by execution: others have updated parts of its weights, which are not gathered yet
};

[[nodiscard]] ElementFormat element_format(NumberFormat format);

}  // namespace plumbline
