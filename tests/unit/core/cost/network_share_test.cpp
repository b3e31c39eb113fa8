// What a step moves by when a network that nobody stated is slower, against steps whose answer is known.

#include "core/cost/network_share.h"

#include <cmath>

#include "models/machine_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Cluster nodes(std::int64_t devices, NetworkOrigin origin) {
  Cluster cluster = with_device_count(find_machine("dgx-h100"), devices);
  cluster.groups.front().node.network->origin = origin;
  return cluster;
}

/// A step that computes for `compute_s` and transfers for `transfer_s` over the catalogue's network.
auto step_of(double compute_s, double transfer_s) {
  const double catalogue = find_machine("dgx-h100").groups.front().node.network->bandwidth.value.value();
  return [=](const Cluster& cluster) {
    const double bandwidth = cluster.groups.front().node.network->bandwidth.value.value();
    return to_picoseconds(Seconds(compute_s + transfer_s * catalogue / bandwidth));
  };
}

}  // namespace

TEST_CASE("the share is 1 where a step is transfers alone, 0 where it is none, and between else") {
  const Cluster cluster = nodes(32, NetworkOrigin::catalogue_for_run);
  CHECK(network_share(cluster, step_of(0, 2)) == Approx(1));
  CHECK(network_share(cluster, step_of(2, 0)) == Approx(0).margin(1e-9));
  CHECK(network_share(cluster, step_of(3, 1)) == Approx(std::log2(5.0 / 4)));
}

TEST_CASE("a network that was stated, or that nothing leaves a node by, is not priced at all") {
  const auto never = [](const Cluster&) -> Picoseconds {
    FAIL("priced");
    return Picoseconds(1);
  };
  CHECK(network_share(nodes(32, NetworkOrigin::of_machine), never) == 0);
  CHECK(network_share(nodes(8, NetworkOrigin::catalogue_for_run), never) == 0);
}

}  // namespace plumbline
