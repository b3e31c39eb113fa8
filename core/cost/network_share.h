#pragma once
/// \file network_share.h: how much of a step moves with a network between nodes that nobody stated.
///
/// Answers a share from 0 (one node, or a network that was stated) to about 1 (a step that is all transfers between
/// nodes). Model: the elasticity of the step in the bandwidth of network cards, from two prices: with all of it and
/// with half. Source: the definition of an elasticity. Not modelled: a latency that nobody stated.
/// Checked against: tests/unit/core/cost/network_share_test.cpp.

#include <functional>

#include "core/machine/cluster.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// `step`: of the same plan on a cluster; called twice, or not at all.
[[nodiscard]] double network_share(const Cluster& cluster, const std::function<Picoseconds(const Cluster&)>& step);

}  // namespace plumbline
