#pragma once
/// \file asked_strategy.h: what the checks of rules read, and the words that several of them use.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/plan/legality.h"
#include "core/plan/strategy.h"
#include "core/training/training.h"

namespace plumbline {

struct AskedStrategy {
  const Strategy& s;
  const Training& t;
  const Divisibility& facts;
  const LegalityLimits& limits;
};

namespace axes {

using Broken = std::optional<std::string>;

[[nodiscard]] std::string number(std::int64_t value);
/// "40 attention heads do not divide over tp 3".
[[nodiscard]] std::string not_divisible(std::string_view what, std::int64_t amount, std::string_view degree,
                                        std::int64_t ranks);
/// Layers of the chunk that holds most. Of a split that is still to be found, the network's.
[[nodiscard]] std::int64_t most_layers_of_chunk(const AskedStrategy& asked);

}  // namespace axes
}  // namespace plumbline
