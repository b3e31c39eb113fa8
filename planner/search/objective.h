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

/// Whether the interval of the peak memory stays inside the device (Question::certain_capacity).
enum class MemoryFit : std::uint8_t { certain, uncertain };

/// Smaller is better, first things first: what surely fits before what may not, then the objective. Non-decreasing in
/// fit, time, devices and memory, so bounds on these give a bound on the score.
using Score = std::array<std::int64_t, 4>;
/// Tokens per dollar at one price per device: the fewer device-seconds a step takes, the better.
[[nodiscard]] Score score(Objective objective, MemoryFit fit, Picoseconds step, std::int64_t devices,
                          Bytes peak_memory);

}  // namespace plumbline
