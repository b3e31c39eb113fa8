#pragma once
/// \file parameter_init.h: the number that every element of every parameter starts with, whatever the layout.
///
/// Model: ones for norms, zeros for biases and for the second of a pair of adapters; matrices and embeddings are normal
/// with a standard deviation of 0.02 (GPT-2's), sqrt(2 / (inputs + outputs)) (Xavier), sqrt(2 / inputs) (He) or 0. A
/// whole matrix of [outputs, inputs] counts, of experts each one's. An element's number is drawn from (seed, name, its
/// index in the whole tensor): Philox words made normal by Box and Muller.
/// Source: Radford et al., 2019 (GPT-2's released code: 0.02); Glorot and Bengio, 2010, eq. 12 (its normal form:
/// torch.nn.init.xavier_normal_); He et al., arXiv:1502.01852, eq. 10 (kaiming_normal_); Hu et al., arXiv:2106.09685,
/// section 4.1 (B = 0). Not modelled: smaller starts of residual projections.
/// Checked against: tests/runtime/execution/parameter_init_test.cpp (moments; slices equal the whole).

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/program/parameter_layout.h"

namespace plumbline {

/// How matrices and embeddings begin.
enum class Initialisation : std::uint8_t { normal, zero, xavier, he };
inline constexpr std::array all_initialisations{Initialisation::normal, Initialisation::zero, Initialisation::xavier,
                                                Initialisation::he};
[[nodiscard]] std::string_view to_text(Initialisation initialisation);
[[nodiscard]] std::optional<Initialisation> initialisation_from_text(std::string_view text);

/// Of the elements of a whole tensor.
[[nodiscard]] double initial_deviation(Initialisation initialisation, const TensorBox& tensor);
/// Of a parameter's name: the same number under every layout.
[[nodiscard]] std::uint64_t hash_of(std::string_view name);
[[nodiscard]] float initial_value(InitialValues starts, double deviation, std::uint64_t seed, std::string_view name,
                                  std::int64_t index);
/// As initial_value, of elements [first, first + size of values) of the parameter's box, by as many threads as the
/// computer runs at once: which of them draws an element changes nothing.
void draw_initial_values(Initialisation initialisation, std::uint64_t seed, const LocalParameter& parameter,
                         std::int64_t first, std::span<float> values);

}  // namespace plumbline
