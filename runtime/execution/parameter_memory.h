#pragma once
/// \file parameter_memory.h: what a rank keeps of parameters between steps: weights, gradients, master copies, moments.
///
/// Answers: where elements lie. Model: one flat buffer of each kind (parameter_layout.h), 0 at first. Weights are whole
/// below ZeRO-3, gradients below ZeRO-2; master copies and moments are those of the elements that the rank updates.
/// Source: ZeRO, arXiv:1910.02054, section 5. Not modelled: what is whole for a while (unit_slots.h).
/// Checked against: tests/runtime/execution (bytes of every strategy), resharding_test.cpp (every element).

#include <span>

#include "kernels/adamw_8bit.h"
#include "runtime/execution/element_views.h"
#include "runtime/execution/rank_groups.h"
#include "runtime/execution/state_parts.h"

namespace plumbline {

/// Elements of the state as they lie in the device's memory.
struct StateData {
  NumberFormat format = NumberFormat::fp32;
  std::span<std::byte> data;
};

class ParameterMemory {
 public:
  ParameterMemory(ParameterLayout of_rank, const Strategy& of_run, const Training& of_weights, RankGroups& of_ranks,
                  Backend& memory, ComputeDevice& of_lanes);

  const ParameterLayout layout;
  const Strategy strategy;
  const Training training;
  const PrecisionFormats formats;
  RankGroups& groups;
  Backend& backend;
  ComputeDevice& device;

  [[nodiscard]] const LocalParameter& parameter(std::int32_t index) const {
    return layout.parameters[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const Section& section_of(const LocalParameter& p) const {
    return layout.sections[static_cast<std::size_t>(p.section)];
  }
  /// Calls `act` for the sections of one execution.
  template <class Act>
  void for_sections(std::int32_t execution, Act act) const {
    for (const Section& section : layout.sections)
      if (section.execution == execution) act(section);
  }
  [[nodiscard]] Communicator& shard_group(const Section& section) const;
  [[nodiscard]] Communicator& replicate_group(const Section& section) const;
  /// Of a section with secondary shards.
  [[nodiscard]] Communicator& secondary_group(const Section& section) const;
  /// Whether this rank, of all with a copy, is the one that counts.
  [[nodiscard]] bool answers_for(const LocalParameter& parameter) const;

  /// Below ZeRO-3: a section's elements from `first` on.
  [[nodiscard]] std::byte* weights(const Section& section, std::int64_t first = 0) const;
  /// Elements of a parameter that the rank holds, from `first` on.
  [[nodiscard]] std::byte* held_weights(const LocalParameter& p, std::int64_t first) const;
  /// Below ZeRO-2: a section's gradients.
  [[nodiscard]] std::byte* gradients(const Section& section) const;
  /// What the rank updates of a section.
  [[nodiscard]] std::span<std::byte> weight_part(const Section& section) const;
  [[nodiscard]] std::span<std::byte> gradient_part(const Section& section) const;
  void zero_gradients();

  // Of what the rank updates, one row each.
  [[nodiscard]] TensorView owned_weight(const OwnedRange& owned) const;
  [[nodiscard]] TensorView owned_gradient(const OwnedRange& owned) const;
  /// What the optimizer steps from: the master copy, or the weight itself.
  [[nodiscard]] TensorView owned_master(const OwnedRange& owned) const;
  [[nodiscard]] bool has_masters() const { return masters_ != nullptr; }
  [[nodiscard]] TensorView moment(const OwnedRange& owned, std::size_t state) const;
  /// Of a parameter whose states are quantized.
  [[nodiscard]] CodedMoment coded_moment(const OwnedRange& owned, std::size_t state) const;
  /// Means of squared gradients of a whole parameter, one row; nothing where there are none.
  [[nodiscard]] TensorView squares(const LocalParameter& p, StatePart part) const;
  [[nodiscard]] StateData state(const StateRange& range) const;

 private:
  [[nodiscard]] BufferRef zeros(MemoryClass memory_class, Bytes bytes) const;

  BufferRef weights_;
  BufferRef gradients_;
  BufferRef masters_;
  BufferRef moments_;
};

[[nodiscard]] ElementFormat element_format(NumberFormat format);

}  // namespace plumbline
