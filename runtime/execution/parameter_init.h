#pragma once
/// \file parameter_init.h: the number that every element of every parameter starts with, whatever the layout.
///
/// Model: normal with a standard deviation of 0.02 (GPT-2's), ones for norms, zeros for biases and for the second of a
/// pair of adapters. An element's number is drawn from (seed, name, its index in the whole tensor): Philox words made
/// normal by Box and Muller. Source: Radford et al., 2019 (GPT-2's released code: 0.02); Hu et al., arXiv:2106.09685,
/// section 4.1 (B = 0). Not modelled: smaller starts of residual projections.
/// Checked against: tests/runtime/execution/parameter_init_test.cpp (moments; slices equal the whole).

#include <cstdint>
#include <string_view>

#include "runtime/execution/parameter_layout.h"

namespace plumbline {

[[nodiscard]] float initial_value(InitialValues starts, std::uint64_t seed, std::string_view name, std::int64_t index);

}  // namespace plumbline
