#include "core/cost/collective_time.h"

#include <cmath>

#include "models/machine_catalog.h"
#include "tests/catch.h"

using namespace plumbline;

namespace {

/// One node, four, and sixty-four of every machine of the catalogue.
std::vector<Cluster> clusters() {
  std::vector<Cluster> result;
  for (const std::string& name : machine_names()) {
    const Cluster node = find_machine(name);
    for (const std::int64_t nodes : {1, 4, 64}) result.push_back(with_device_count(node, nodes * device_count(node)));
  }
  return result;
}

std::vector<GroupSpan> spans(const Cluster& cluster) {
  const auto world = static_cast<std::int32_t>(device_count(cluster));
  std::vector<GroupSpan> result;
  for (std::int32_t size = 2; size <= world; size *= 2)
    for (std::int32_t stride = 1; size * stride <= world; stride *= 2)
      result.push_back(group_span(size, stride, cluster));
  return result;
}

double seconds(Collective kind, Bytes bytes, const GroupSpan& span, const Cluster& cluster) {
  return collective_cost(kind, bytes, span, cluster).time.value();
}

Cluster with_doubled_rates(Cluster cluster) {
  for (NodeGroup& group : cluster.groups) {
    group.node.interconnect.bandwidth.value = group.node.interconnect.bandwidth.value * 2;
    if (group.node.network) group.node.network->bandwidth.value = group.node.network->bandwidth.value * 2;
  }
  return cluster;
}

}  // namespace

TEST_CASE("twice the bytes never take less time, on any machine and group") {
  for (const Cluster& cluster : clusters()) {
    for (const GroupSpan& span : spans(cluster)) {
      for (const Collective kind : all_collectives) {
        double before = 0;
        for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{1} << 34; bytes *= 2) {
          const double time = seconds(kind, Bytes(bytes), span, cluster);
          INFO(cluster.name << " " << to_text(kind) << " " << span.ranks << " ranks, " << bytes << " bytes");
          REQUIRE(std::isfinite(time));
          REQUIRE(time >= before);
          before = time;
        }
      }
    }
  }
}

TEST_CASE("doubling every bandwidth never raises the time") {
  for (const Cluster& cluster : clusters()) {
    const Cluster fast = with_doubled_rates(cluster);
    for (const GroupSpan& span : spans(cluster)) {
      for (const Collective kind : all_collectives) {
        for (const Bytes bytes : {4_KiB, 1_MiB, 32_MiB, 4_GiB}) {
          INFO(cluster.name << " " << to_text(kind) << " " << span.ranks << " ranks on " << span.nodes << " nodes, "
                            << bytes.value() << " bytes");
          REQUIRE(seconds(kind, bytes, span, fast) <= seconds(kind, bytes, span, cluster) * (1 + 1e-12));
        }
      }
    }
  }
}

TEST_CASE("no collective moves its wire bytes faster than twice the links allow") {
  // In-switch reduction sends half of what a ring sends, so its ring-equivalent rate may reach twice the links'.
  for (const Cluster& cluster : clusters()) {
    const Node& node = cluster.groups.front().node;
    for (const GroupSpan& span : spans(cluster)) {
      const double out = span.crosses_network() ? node.network_bandwidth().value() * span.node_devices / node.devices
                                                : node.interconnect.bandwidth.value.value();
      for (const Collective kind : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter}) {
        const double time = seconds(kind, 4_GiB, span, cluster);
        const double rate = static_cast<double>(wire_bytes(kind, 4_GiB, span.ranks).value()) / time;
        INFO(cluster.name << " " << to_text(kind) << " " << span.ranks << " ranks on " << span.nodes << " nodes");
        REQUIRE(rate <= 2 * out);
      }
    }
  }
}

TEST_CASE("an all-gather and a reduce-scatter of the same size take the same time") {
  for (const Cluster& cluster : clusters())
    for (const GroupSpan& span : spans(cluster))
      REQUIRE(seconds(Collective::all_gather, 64_MiB, span, cluster) ==
              seconds(Collective::reduce_scatter, 64_MiB, span, cluster));
}
