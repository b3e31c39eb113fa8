#pragma once
/// \file parameter_state.h: weights, gradients and optimizer state as the host reads and writes them alongside the
/// steps.
///
/// Answers: first weights, checkpoints, checks of replicas, what tests look at. Model: elements pass between the host
/// and the device in parts, so that scratch memory stays small. Checked against:
/// tests/runtime/execution/resharding_test.cpp, training_golden_test.cpp.

#include <functional>

#include "runtime/execution/parameter_memory.h"

namespace plumbline {

enum class ParameterPart : std::uint8_t { weights, gradients };

/// What an element of a whole tensor starts with: its parameter and its index in the whole.
using FirstWeights = std::function<float(const LocalParameter&, std::int64_t)>;

class ParameterState {
 public:
  explicit ParameterState(ParameterMemory& memory) : memory_(memory) {}

  void initialise(const FirstWeights& first);
  /// `visit(parameter, index in the whole tensor, value)` for every element that this rank answers for.
  using Visit = std::function<void(const LocalParameter&, std::int64_t, float)>;
  void visit(ParameterPart what, const Visit& visit) const;
  /// A part of the state, `elements` counted from the range's first, to the host and back.
  [[nodiscard]] std::vector<std::byte> downloaded(const StateRange& range, ElementRange elements) const;
  void upload(const StateRange& range, std::int64_t first, std::span<const std::byte> data);
  /// Of what this rank answers for in a checkpoint.
  [[nodiscard]] bool has_non_finite() const;
  /// `look(parameter, elements, bytes)` for all weights, master copies and moments that are up to date on this rank.
  /// The bytes are the host's.
  using Look = std::function<void(const LocalParameter&, ElementRange, std::span<const std::byte>)>;
  void look(const Look& look) const;

 private:
  /// Into `to`, one row: elements of the parameter's box from `begin` on.
  void put_first_weights(const FirstWeights& first, const LocalParameter& parameter, std::int64_t begin,
                         const TensorView& to) const;
  /// One row, as floats of the host.
  [[nodiscard]] std::vector<float> values_of(const ConstTensorView& row) const;
  [[nodiscard]] std::vector<std::byte> downloaded(const void* from, Bytes bytes) const;
  void wait() const { memory_.device.finish(memory_.device.mark(Stream::compute)); }

  ParameterMemory& memory_;
};

}  // namespace plumbline
