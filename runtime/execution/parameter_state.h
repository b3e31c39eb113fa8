#pragma once
/// \file parameter_state.h: weights, gradients and optimizer state as the host reads and writes them alongside the
/// steps.
///
/// Answers: first weights, checkpoints, checks of replicas, what tests look at. Model: elements pass between the host
/// and the device in parts, so that scratch memory stays small. Checked against:
/// tests/runtime/execution/resharding_test.cpp, training_golden_test.cpp.

#include <functional>

#include "runtime/execution/parameter_init.h"
#include "runtime/execution/parameter_memory.h"

namespace plumbline {

enum class ParameterPart : std::uint8_t { weights, gradients };

/// What an element of a whole tensor starts with: its parameter and its index in the whole.
using FirstWeights = std::function<float(const LocalParameter&, std::int64_t)>;

class ParameterState {
 public:
  explicit ParameterState(ParameterMemory& memory) : memory_(memory) {}

  void initialise(const FirstWeights& first);
  /// Drawn from the seed (parameter_init.h).
  void initialise(Initialisation initialisation, std::uint64_t seed);
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
  /// Fills values with what elements of the parameter's box start with, from the given one on.
  using Fill = std::function<void(const LocalParameter&, std::int64_t, std::span<float>)>;
  void fill(const Fill& fill) const;
  /// Elements of a parameter's box, as a row of the device.
  struct Elements {
    ElementRange range;
    TensorView row;
  };
  /// Of all that is held of a parameter: its weights, which have all elements, and master copies of some.
  [[nodiscard]] std::vector<Elements> held_elements(std::int32_t parameter) const;
  /// Elements [first, first + size of values) to wherever they are held.
  void put(const std::vector<Elements>& held, std::int64_t first, std::span<const float> values) const;
  /// One row, as floats of the host.
  [[nodiscard]] std::vector<float> values_of(const ConstTensorView& row) const;
  [[nodiscard]] std::vector<std::byte> downloaded(const void* from, Bytes bytes) const;
  void wait() const { memory_.device.finish(memory_.device.mark(Stream::compute)); }

  ParameterMemory& memory_;
};

}  // namespace plumbline
