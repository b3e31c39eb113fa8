#include "core/cost/collective_time.h"

#include "core/cost/nccl_graph.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"

using namespace plumbline;

namespace {

Cluster machine(const char* name, std::int64_t devices) { return with_device_count(find_machine(name), devices); }

double seconds(Collective kind, Bytes bytes, const GroupSpan& span, const Cluster& cluster) {
  return collective_cost(kind, bytes, span, cluster).time.value();
}

}  // namespace

TEST_CASE("bytes on the wire: 2(n-1)/n, (n-1)/n, or all, rounded up") {
  CHECK(wire_bytes(Collective::all_reduce, Bytes(800), 8) == Bytes(1400));
  CHECK(wire_bytes(Collective::all_gather, Bytes(800), 8) == Bytes(700));
  CHECK(wire_bytes(Collective::reduce_scatter, Bytes(10), 4) == Bytes(8));  // 7.5
  CHECK(wire_bytes(Collective::all_to_all, Bytes(800), 8) == Bytes(700));
  CHECK(wire_bytes(Collective::broadcast, Bytes(800), 8) == Bytes(800));
  CHECK(wire_bytes(Collective::send_receive, Bytes(800), 2) == Bytes(800));
  for (const Collective kind : all_collectives) {
    CHECK(wire_bytes(kind, Bytes(800), 1) == Bytes(0));
    CHECK(wire_bytes(kind, Bytes(-800), 8) == Bytes(0));
    CHECK(wire_bytes(kind, Bytes::largest(), 3) > Bytes(0));
  }
}

TEST_CASE("one rank or no bytes take no time") {
  const Cluster h100 = machine("dgx-h100", 16);
  for (const Collective kind : all_collectives) {
    CHECK(seconds(kind, 1_GiB, group_span(1, 1, h100), h100) == 0);
    CHECK(seconds(kind, Bytes(0), group_span(8, 1, h100), h100) == 0);
  }
}

TEST_CASE("eight groups that share eight NICs get one each: an eighth of the node's bandwidth") {
  const Cluster h100 = machine("dgx-h100", 64);
  const Node& node = h100.groups.front().node;
  CHECK(nccl::inter_gbps(group_span(64, 1, h100), node) == Approx(8 * 48));
  CHECK(nccl::inter_gbps(group_span(8, 8, h100), node) == Approx(48));
  CHECK(nccl::inter_gbps(group_span(32, 2, h100), node) == Approx(4 * 48));
}

TEST_CASE("an oversubscribed level divides the network's bandwidth") {
  const Cluster pod = machine("h100-roce", 3072);
  const Cluster pods = machine("h100-roce", 6144);
  const Node& node = pod.groups.front().node;
  CHECK(nccl::inter_gbps(group_span(384, 8, pod), node) == Approx(48));
  CHECK(nccl::inter_gbps(group_span(768, 8, pods), node) == Approx(48. / 7));
  // Inside a pod nothing changes.
  CHECK(nccl::inter_gbps(group_span(384, 8, pods), node) == Approx(48));
}

TEST_CASE("xGMI and meshes give a small group only the links among its ranks") {
  const Node mi300x = find_machine("mi300x").groups.front().node;
  CHECK(nccl::intra_gbps(mi300x, 2) == Approx(48));
  CHECK(nccl::intra_gbps(mi300x, 8) == Approx(7 * 48));
  const Node h100 = find_machine("dgx-h100").groups.front().node;
  CHECK(nccl::intra_gbps(h100, 2) == nccl::intra_gbps(h100, 8));
}

TEST_CASE("send/receive: latency and one rank's share of the way") {
  const Cluster h100 = machine("dgx-h100", 64);
  // 370.8 GB/s of NVLink, 5 us.
  CHECK(seconds(Collective::send_receive, 1_GB, group_span(2, 1, h100), h100) ==
        Approx(5e-6 + 1 / 370.8).epsilon(1e-6));
  // One 400 Gb/s NIC of its own: 48 GB/s, 14 us.
  CHECK(seconds(Collective::send_receive, 1_GB, group_span(8, 8, h100), h100) == Approx(14e-6 + 1 / 48.).epsilon(1e-6));
  // Eight stages laid over one node at stride 4: the single flow of a group still has one NIC.
  CHECK(seconds(Collective::send_receive, 1_GB, group_span(16, 4, h100), h100) ==
        Approx(14e-6 + 1 / 48.).epsilon(1e-6));
}

TEST_CASE("all-to-all over two nodes is bound by the half that leaves the node") {
  const Cluster h100 = machine("dgx-h100", 16);
  // 16 ranks hold 1.6 GB each: 0.8 GB leave over a NIC of 48 GB/s; 15 peers are two rounds of 14 us.
  const GroupSpan span = group_span(16, 1, h100);
  CHECK(seconds(Collective::all_to_all, Bytes(1'600'000'000), span, h100) ==
        Approx(2 * 14e-6 + 0.8 / 48).epsilon(1e-6));
}

TEST_CASE("a cluster without a network takes for ever rather than failing") {
  Cluster broken = machine("dgx-h100", 16);
  broken.groups.front().node.network.reset();
  CHECK(std::isinf(seconds(Collective::all_reduce, 1_MiB, group_span(16, 1, broken), broken)));
  CHECK(std::isinf(seconds(Collective::all_to_all, 1_MiB, group_span(16, 1, broken), broken)));
}
