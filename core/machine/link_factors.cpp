#include "core/machine/link_factors.h"

#include <algorithm>

namespace plumbline {
namespace {

constexpr std::array<std::string_view, all_link_factors.size()> names{
    "node_bandwidth",    "node_latency",    "node_in_switch_bandwidth",    "node_peer_bandwidth",
    "network_bandwidth", "network_latency", "network_in_switch_bandwidth", "network_peer_bandwidth"};

}  // namespace

std::string_view to_text(LinkFactor factor) { return names[static_cast<std::size_t>(factor)]; }

bool LinkFactors::empty() const {
  return std::none_of(numbers_.begin(), numbers_.end(), [](const auto& number) { return number.has_value(); });
}

}  // namespace plumbline
