#pragma once
/// \file sites.h: which kinds of devices the ranks of each pipeline stage compute on.
///
/// Answers a site per stage: the kinds of nodes that its ranks touch, as a cluster of those kinds alone. Ranks are
/// numbered over the devices in the order in which the cluster lists its nodes, and the pipeline is the outermost axis
/// (core/plan/rank_group.h), so a stage is a range of devices. Neighbouring groups of nodes that differ in nothing but
/// their name are one kind; a cluster of one kind has one site, itself.
/// Model: a stage whose ranks touch several kinds waits for the slowest of them and has the memory of the smallest. Its
/// collectives span nodes as if the whole cluster were of the site's kinds. Kinds whose nodes do not begin at a
/// multiple of their devices are priced as the whole cluster's mixture.
/// Not modelled: rank orders that put one kind's devices first in every group.
/// Checked against: tests/unit/core/machine/sites_test.cpp, tests/property/mixed_cluster_test.cpp.

#include <cstdint>
#include <string>
#include <vector>

#include "core/machine/cluster.h"

namespace plumbline {

struct Site {
  Cluster cluster;  ///< as many nodes as the whole cluster has, of the site's kinds alone
  Bytes memory{0};  ///< of its smallest device
};

/// What each stage of a pipeline computes on, as indices into Sites. Of one kind of nodes the lists are empty.
struct StageSites {
  std::int32_t count = 1;               ///< of all sites of the cluster
  std::vector<std::int32_t> of_rank{};  ///< by pipeline rank
  /// By pipeline rank: what it and the rank before it compute on together; of the first rank, all.
  std::vector<std::int32_t> of_link{};

  [[nodiscard]] std::int32_t site(std::size_t rank) const { return of_rank.empty() ? 0 : of_rank[rank]; }
  [[nodiscard]] std::int32_t link(std::size_t rank) const { return of_link.empty() ? 0 : of_link[rank]; }
};

class Sites {
 public:
  explicit Sites(const Cluster& cluster);

  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(sites_.size()); }
  /// Site 0 is the whole cluster.
  [[nodiscard]] const Site& operator[](std::int32_t site) const { return sites_[static_cast<std::size_t>(site)]; }
  [[nodiscard]] StageSites of_stages(std::int32_t pipeline_stages) const;

 private:
  struct Kind {
    NodeGroup nodes;
    std::int64_t begin = 0;  ///< its first device
    std::int64_t end = 0;
  };
  void add_site(const Cluster& cluster, std::size_t first, std::size_t last);
  [[nodiscard]] std::size_t kind_at(std::int64_t device) const;
  [[nodiscard]] std::int32_t index(std::size_t first, std::size_t last) const {
    return index_[first * kinds_.size() + last];
  }

  std::vector<Kind> kinds_;
  std::vector<Site> sites_;
  std::vector<std::int32_t> index_;  ///< by first and last kind
};

/// The groups of nodes, and how many devices of each, that devices [first, last) of the cluster are: as text, "8 x
/// H100-SXM-80GB", or several joined by " and ".
[[nodiscard]] std::string devices_text(const Cluster& cluster, std::int64_t first, std::int64_t last);

}  // namespace plumbline
