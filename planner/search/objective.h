#pragma once
/// \file objective.h: what a search prefers, as integers that compare the same on every machine.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/quantity/quantity.h"

namespace plumbline {

enum class Objective : std::uint8_t { step_time, tokens_per_dollar, fewest_gpus, least_memory };
inline constexpr std::array all_objectives{Objective::step_time, Objective::tokens_per_dollar, Objective::fewest_gpus,
                                           Objective::least_memory};
/// "time", "tokens-per-dollar", "gpus", "memory".
[[nodiscard]] std::string_view to_text(Objective objective);
[[nodiscard]] std::optional<Objective> objective_from_text(std::string_view text);

/// Smaller is better, first things first; the last component is the peak memory. Non-decreasing in time, devices and
/// memory, so a bound on the time gives a bound on the score.
using Score = std::array<std::int64_t, 3>;
/// Tokens per dollar at one price per device: the fewer device-seconds a step takes, the better.
[[nodiscard]] Score score(Objective objective, Picoseconds step, std::int64_t devices, Bytes peak_memory);

}  // namespace plumbline
