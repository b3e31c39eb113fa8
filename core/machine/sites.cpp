#include "core/machine/sites.h"

#include <algorithm>
#include <utility>

namespace plumbline {
namespace {

bool is_same_kind(Node a, const Node& b) {
  a.name = b.name;
  return a == b;
}

Bytes least_memory(const Cluster& cluster) {
  Bytes least = Bytes::largest();
  for (const NodeGroup& group : cluster.groups) least = std::min(least, group.node.device.memory.value);
  return least;
}

}  // namespace

Sites::Sites(const Cluster& cluster) {
  std::int64_t devices = 0;
  for (const NodeGroup& group : cluster.groups) {
    const std::int64_t end = devices + std::int64_t{group.count} * group.node.devices;
    if (!kinds_.empty() && is_same_kind(kinds_.back().nodes.node, group.node))
      kinds_.back().end = end;
    else
      kinds_.push_back({group, devices, end});
    devices = end;
  }
  sites_.push_back({cluster, least_memory(cluster)});
  index_.assign(kinds_.size() * kinds_.size(), 0);
  for (std::size_t first = 0; first < kinds_.size(); ++first)
    for (std::size_t last = first; last < kinds_.size(); ++last) add_site(cluster, first, last);
}

void Sites::add_site(const Cluster& cluster, std::size_t first, std::size_t last) {
  const bool is_whole = first == 0 && last + 1 == kinds_.size();
  const bool is_aligned = std::all_of(kinds_.begin() + static_cast<std::ptrdiff_t>(first),
                                      kinds_.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                      [](const Kind& kind) { return kind.begin % kind.nodes.node.devices == 0; });
  if (is_whole || !is_aligned) return;
  Site site{cluster, Bytes(0)};
  site.cluster.groups.clear();
  std::int64_t others = node_count(cluster);
  for (std::size_t k = first; k <= last; ++k) {
    site.cluster.groups.push_back(kinds_[k].nodes);
    others -= kinds_[k].nodes.count;
  }
  site.cluster.groups.back().count += static_cast<std::int32_t>(others);
  site.memory = least_memory(site.cluster);
  index_[first * kinds_.size() + last] = count();
  sites_.push_back(std::move(site));
}

std::size_t Sites::kind_at(std::int64_t device) const {
  std::size_t kind = 0;
  while (kind + 1 < kinds_.size() && kinds_[kind].end <= device) ++kind;
  return kind;
}

StageSites Sites::of_stages(std::int32_t pipeline_stages) const {
  StageSites sites{count(), {}, {}};
  if (count() == 1) return sites;
  const std::int64_t devices = kinds_.back().end;
  const std::int64_t stages = std::max(1, pipeline_stages);
  std::size_t before = 0;
  for (std::int64_t rank = 0; rank < stages; ++rank) {
    const std::int64_t begin = rank * devices / stages;
    const std::int64_t end = std::max(begin + 1, ((rank + 1) * devices + stages - 1) / stages);
    const std::size_t first = kind_at(begin);
    const std::size_t last = kind_at(end - 1);
    sites.of_rank.push_back(index(first, last));
    sites.of_link.push_back(rank == 0 ? 0 : index(before, last));
    before = first;
  }
  return sites;
}

std::string devices_text(const Cluster& cluster, std::int64_t first, std::int64_t last) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  std::int64_t begin = 0;
  for (const NodeGroup& group : cluster.groups) {
    const std::int64_t end = begin + std::int64_t{group.count} * group.node.devices;
    const std::int64_t held = std::min(last, end) - std::max(first, begin);
    begin = end;
    if (held <= 0) continue;
    if (!counts.empty() && counts.back().first == group.node.device.name)
      counts.back().second += held;
    else
      counts.emplace_back(group.node.device.name, held);
  }
  std::string text;
  for (const auto& [name, count] : counts) text += (text.empty() ? "" : " and ") + std::to_string(count) + " x " + name;
  return text;
}

}  // namespace plumbline
