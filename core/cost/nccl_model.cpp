#include "core/cost/nccl_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace plumbline::nccl {
namespace {

template <class Enum>
constexpr std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

std::size_t scale(const Communicator& c) { return c.nodes <= 2 ? static_cast<std::size_t>(c.nodes - 1) : 2; }

double of(const PerGeneration& table, const Communicator& c) { return table[index(c.generation)][scale(c)]; }

/// Between nodes the row of this table is the host's, not the device's.
double ll_limit(const Communicator& c) {
  if (c.nodes == 1) return of(ll_max, c);
  return ll_max[c.cpu_vendor == CpuVendor::amd ? 1 : 0][scale(c)];
}

int log2_floor(std::int64_t n) {
  return n < 1 ? -1 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 1;
}

bool is_gather_or_scatter(Collective kind) {
  return kind == Collective::all_gather || kind == Collective::reduce_scatter;
}

bool is_enabled(Collective kind, Algorithm a, Protocol p, const Communicator& c) {
  if (kind == Collective::all_to_all || kind == Collective::send_receive) return false;
  if (p == Protocol::ll128 && !c.has_ll128) return false;
  switch (a) {
    case Algorithm::ring: return true;
    case Algorithm::tree: return kind == Collective::all_reduce;
    case Algorithm::nvls:  // between nodes only with CollNet
      return p == Protocol::simple && c.nvls.channels >= 2 && c.nodes == 1 && kind != Collective::broadcast;
    case Algorithm::nvls_tree:
      return p == Protocol::simple && c.nvls.channels >= 2 && c.nodes > 1 && kind == Collective::all_reduce;
    case Algorithm::pat: return p == Protocol::simple && is_gather_or_scatter(kind) && c.nodes == c.ranks;
  }
  return false;
}

/// GB/s of one channel before the protocol takes its part.
double channel_bandwidth(Collective kind, Algorithm a, const Communicator& c) {
  if (a != Algorithm::nvls && a != Algorithm::nvls_tree) return c.nodes <= 2 ? c.ring.intra_gbps : c.ring.inter_gbps;
  const double channels = c.nvls.channels;
  double intra = c.nvls.intra_gbps * nvls_efficiency[index(c.generation)] * (channels - 1) / channels;
  const double ppn = c.ranks_per_node();
  intra *= kind == Collective::all_reduce ? 2 : (ppn - 1) / ppn;
  if (a == Algorithm::nvls) return std::min(intra, c.nvls.inter_gbps);
  const double inter = c.nvls.inter_gbps * (c.nodes <= 2 ? 2 : 1);
  return std::min({intra, inter, of(channel_max_nvls_tree, c)});
}

double ring_bandwidth(Protocol p, double bus, const Communicator& c) {
  switch (p) {
    case Protocol::ll: return std::min(ll_limit(c), bus * ring_ll_share);
    case Protocol::ll128: return std::min(bus * ll128_share, c.ring.channels * of(channel_max_ring_ll128, c));
    case Protocol::simple: return bus;
  }
  return 0;
}

double tree_bandwidth(Protocol p, double bus, const Communicator& c) {
  bus = std::min(bus * tree_share, c.ring.channels * of(channel_max_tree, c));
  if (p == Protocol::ll) return std::min(bus / tree_ll_divisor, ll_limit(c));
  if (p == Protocol::simple) return bus;
  return std::min(bus * (c.nodes == 1 ? tree_ll128_share_one_node : tree_ll128_share),
                  c.ring.channels * of(channel_max_tree_ll128, c));
}

int steps(Collective kind, int ranks) {
  if (kind == Collective::all_reduce) return 2 * (ranks - 1);
  return is_gather_or_scatter(kind) ? ranks - 1 : ranks;
}

double bandwidth(Collective kind, Algorithm a, Protocol p, const Communicator& c) {
  const double per_step = static_cast<double>(c.ranks) / steps(kind, c.ranks);
  const double channel = channel_bandwidth(kind, a, c);
  switch (a) {
    case Algorithm::ring: return ring_bandwidth(p, c.ring.channels * channel, c) * per_step;
    case Algorithm::tree: return tree_bandwidth(p, c.ring.channels * channel, c) * .5;
    case Algorithm::nvls:
    case Algorithm::nvls_tree: return c.nvls.channels * channel * (is_gather_or_scatter(kind) ? 1 : per_step);
    case Algorithm::pat: return c.ring.channels * channel * pat_share;
  }
  return 0;
}

/// Algorithm bandwidth of an all-reduce that the node's switch adds up, in GB/s. Every device owns 1 / n of the buffer:
/// it sends all of it once, to whoever owns the part, and its own part's sum once more to everybody, and receives as
/// much; so its link carries 1 + 1 / n of the buffer each way. 0 where the law was not held against measurements.
double in_switch_bandwidth(const Communicator& c) {
  if (c.nodes > 1 || c.ranks > nvls_law_up_to_ranks) return 0;
  return c.link_gbps * nvls_link_share[index(c.generation)] * c.ranks / (c.ranks + 1);
}

double inter_latency(Algorithm a, Protocol p, const Communicator& c) {
  // With one rank per node nothing hides the network, and NCCL takes the tree's figure.
  const Algorithm row = c.ranks == c.nodes ? Algorithm::tree : a;
  const double own = c.inter_latency * (p == Protocol::simple ? 2 : 1);  // Simple flushes
  return hardware_latency[index(LinkClass::net)][index(row)][index(p)] + own;
}

double ring_latency(Collective kind, Protocol p, double intra, double inter, const Communicator& c) {
  if (kind == Collective::broadcast)  // the same ring on all channels
    return c.nodes == 1 ? intra : hardware_latency[index(LinkClass::net)][index(Algorithm::ring)][index(p)];
  if (c.nodes > 1) {
    const double overhead = c.cpu_vendor == CpuVendor::amd ? net_overhead_amd : net_overhead;
    intra = std::max(intra, overhead * (p == Protocol::simple ? net_overhead_simple_factor : 1));
  }
  const int inter_steps = kind == Collective::all_reduce ? 2 * (c.nodes - 1) : c.nodes - 1;
  return (steps(kind, c.ranks) - inter_steps) * intra + inter_steps * inter;
}

double latency(Collective kind, Algorithm a, Protocol p, const Communicator& c) {
  const double base = base_latency[index(a)][index(p)];
  const double intra = hardware_latency[index(c.intra_link)][index(a)][index(p)];
  const double inter = inter_latency(a, p, c);
  const int log_nodes = log2_floor(c.nodes);
  const int ranks_per_node = c.ranks / c.nodes;
  switch (a) {
    case Algorithm::ring: return base + ring_latency(kind, p, intra, inter, c);
    case Algorithm::tree: return base + 2 * ((ranks_per_node - 1) * intra + log_nodes * inter);
    case Algorithm::nvls: return intra + (c.nodes > 1 ? inter : 0);
    case Algorithm::nvls_tree: return base + intra + 2 * log_nodes * inter;
    case Algorithm::pat: return base + log_nodes * (inter / pat_latency_divisor) + c.ranks * pat_latency_per_rank;
  }
  return 0;
}

}  // namespace

Rate rate(Collective kind, Algorithm algorithm, Protocol protocol, const Communicator& c) {
  if (c.ranks < 2 || !is_enabled(kind, algorithm, protocol, c)) return {};
  return {latency(kind, algorithm, protocol, c), bandwidth(kind, algorithm, protocol, c)};
}

Time time(Collective kind, Bytes bytes, Algorithm algorithm, Protocol protocol, const Communicator& c) {
  Rate entry = rate(kind, algorithm, protocol, c);
  if (!(entry.bandwidth_gbps > 0)) return {0, std::numeric_limits<double>::infinity()};
  if (algorithm == Algorithm::nvls && kind == Collective::all_reduce && in_switch_bandwidth(c) > 0)
    entry.bandwidth_gbps = in_switch_bandwidth(c);
  const int log_size = log2_floor(bytes.value() >> 6);
  const auto& correction = tree_correction[index(protocol)];
  if (algorithm == Algorithm::tree && log_size >= 0 && log_size < static_cast<int>(correction.size()))
    entry.bandwidth_gbps *= correction[static_cast<std::size_t>(log_size)];
  // Twice the channels: NCCL doubles what the search found before it runs.
  const std::int64_t parts = 2LL * std::max(c.ring.channels, 1) * c.ranks;
  if (algorithm == Algorithm::ring && protocol == Protocol::simple && c.nodes > 1 && kind == Collective::all_reduce &&
      bytes.value() / parts >= ring_plateau_bytes)
    entry.latency_us *= c.generation == Generation::volta ? ring_plateau_factor_volta : ring_plateau_factor;
  return {entry.latency_us, static_cast<double>(bytes.value()) / (1000 * entry.bandwidth_gbps)};
}

Choice choose(Collective kind, Bytes bytes, const Communicator& c) {
  if (c.ranks < 2) return {};
  Choice best{{0, std::numeric_limits<double>::infinity()}, Algorithm::ring, Protocol::simple};
  for (const Algorithm algorithm : all_algorithms) {
    for (const Protocol protocol : all_protocols) {
      const Time candidate = time(kind, bytes, algorithm, protocol, c);
      if (candidate.total_us() < best.time.total_us()) best = {candidate, algorithm, protocol};
    }
  }
  return best;
}

}  // namespace plumbline::nccl
