#pragma once
/// \file stated_network.h: the network of a node as a run's source spells it: "4x100Gb RoCE per node", "800 Gb/s".
///
/// Answers the cards of a node and the rate of one of them, per direction. A rate behind a count ("8x NDR400"), of a
/// card ("400 Gb/s per GPU") or of a generation (HDR is 200 Gb/s) is one card's; any other rate is the node's and is
/// divided evenly over the cards of its machine.
/// Source: InfiniBand Trade Association, roadmap (rates of four lanes: EDR 100, HDR 200, NDR 400, XDR 800 Gb/s); HPE
/// Slingshot (10: 100, 11: 200 Gb/s); Cornelis Omni-Path 100. A small b is bits, a large B bytes.
/// Not modelled: that RoCE, Ethernet and InfiniBand differ at equal rates; the machine's fabric stays.
/// Checked against: tests/unit/planner/validate/stated_network_test.cpp (spellings of published rows).

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/machine/node.h"

namespace plumbline {

/// Whose rate a text states; one card for each device where it is a device's.
enum class RateOf : std::uint8_t { card, device, node };

struct StatedNetwork {
  std::int32_t cards = 0;  ///< 0: not stated
  BytesPerSecond rate{0};
  RateOf of = RateOf::card;
};

/// None where the text states no rate.
[[nodiscard]] std::optional<StatedNetwork> stated_network(std::string_view text);

/// The node's cards as stated, where it has any.
[[nodiscard]] Node with_stated_network(Node node, const StatedNetwork& stated, std::string_view text);

}  // namespace plumbline
