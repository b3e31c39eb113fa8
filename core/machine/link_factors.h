#pragma once
/// \file link_factors.h: what the collectives of one cluster were measured to reach, over what the model of links says.
///
/// A factor of a bandwidth divides transfer times, a factor of a latency multiplies waiting times; a factor that is not
/// there is 1. They are the cluster's own: its cables, drivers and plug-ins, which no datasheet tells apart.
/// Source of a factor: planner/calibrate/link_fit.h, from timed collectives.
/// Not modelled: factors by message size or by the number of nodes.
/// Checked against: tests/unit/core/io/machine_json_test.cpp, tests/unit/planner/calibrate/link_fit_test.cpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/machine/sourced.h"

namespace plumbline {

enum class LinkFactor : std::uint8_t {
  node_bandwidth,               ///< rings and trees inside a node (its NVLink domain)
  node_latency,                 ///< of everything inside a node
  node_in_switch_bandwidth,     ///< all-reduce that the node's switch adds up
  node_peer_bandwidth,          ///< send/receive and all-to-all inside a node
  network_bandwidth,            ///< rings, trees and PAT over several nodes
  network_latency,              ///< of everything over several nodes
  network_in_switch_bandwidth,  ///< all-reduce over several nodes whose switches add up (NVLS tree)
  network_peer_bandwidth        ///< send/receive and all-to-all over several nodes
};
/// A hundredth to a hundred times what the model says: beyond, the machine is another one, or the unit is.
inline constexpr double least_link_factor = 0.01;
inline constexpr double most_link_factor = 100;
inline constexpr std::array all_link_factors{LinkFactor::node_bandwidth,
                                             LinkFactor::node_latency,
                                             LinkFactor::node_in_switch_bandwidth,
                                             LinkFactor::node_peer_bandwidth,
                                             LinkFactor::network_bandwidth,
                                             LinkFactor::network_latency,
                                             LinkFactor::network_in_switch_bandwidth,
                                             LinkFactor::network_peer_bandwidth};
[[nodiscard]] std::string_view to_text(LinkFactor factor);

class LinkFactors {
 public:
  [[nodiscard]] double operator[](LinkFactor factor) const {
    const auto& number = numbers_[static_cast<std::size_t>(factor)];
    return number ? number->value : 1;
  }
  /// With its source; nothing where nobody measured it.
  [[nodiscard]] const std::optional<Sourced<double>>& number(LinkFactor factor) const {
    return numbers_[static_cast<std::size_t>(factor)];
  }
  void set(LinkFactor factor, Sourced<double> number) {
    numbers_[static_cast<std::size_t>(factor)] = std::move(number);
  }
  [[nodiscard]] bool empty() const;
  bool operator==(const LinkFactors&) const = default;

 private:
  std::array<std::optional<Sourced<double>>, all_link_factors.size()> numbers_;
};

}  // namespace plumbline
