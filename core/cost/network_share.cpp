#include "core/cost/network_share.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

constexpr double slower = 0.5;

bool is_unstated(const NodeGroup& group) {
  return group.node.network && group.node.network->origin == NetworkOrigin::catalogue_for_run;
}

}  // namespace

double network_share(const Cluster& cluster, const std::function<Picoseconds(const Cluster&)>& step) {
  if (node_count(cluster) < 2 || std::none_of(cluster.groups.begin(), cluster.groups.end(), is_unstated)) return 0;
  Cluster slow = cluster;
  for (NodeGroup& group : slow.groups)
    if (is_unstated(group)) group.node.network->bandwidth.value = slower * group.node.network->bandwidth.value;
  const Picoseconds whole = step(cluster);
  if (whole <= Picoseconds(0)) return 0;
  return std::max(0.0, std::log(step(slow) / whole) / -std::log(slower));
}

}  // namespace plumbline
