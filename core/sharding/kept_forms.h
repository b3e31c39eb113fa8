#pragma once
/// \file kept_forms.h: in which form a software stack keeps what a backward pass needs, where that is a choice.

#include <cstdint>

namespace plumbline {

/// What a product keeps of its input for its weight gradient: the tensor that it read, or the copy that it multiplied,
/// in the format of the product; `shared`: that copy, unless attention keeps the tensor anyway.
enum class ProductInputs : std::uint8_t { as_read, as_multiplied, shared };
/// What a router's weights scale, which is kept for their gradient: what experts return, or what their activation
/// makes.
enum class ExpertWeighting : std::uint8_t { of_outputs, of_activations };

/// Clamps of a gate and of what it scales: in the gate's kernel, or in kernels of their own, whose results are joined
/// in a copy that the gate keeps.
enum class LimitedGates : std::uint8_t { fused, copied };

/// What column-parallel products read under sequence parallelism: for their weight gradients ranks gather it again, or
/// keep the rows of all ranks from the forward on.
enum class GatheredInputs : std::uint8_t { gathered_again, kept };

/// What a gate keeps of its inputs: the tensors that it read, or copies in 8 bits, which its backward casts back.
enum class GateInputs : std::uint8_t { as_read, in_8_bits };

struct KeptForms {
  ProductInputs product_inputs = ProductInputs::as_read;
  ExpertWeighting expert_weighting = ExpertWeighting::of_outputs;
  LimitedGates limited_gates = LimitedGates::fused;
  GatheredInputs gathered_inputs = GatheredInputs::gathered_again;
  GateInputs gate_inputs = GateInputs::as_read;
};

}  // namespace plumbline
