#pragma once
/// \file link_fit.h: what the collectives of a cluster reach, from how long some of them took.
///
/// Answers factors on the model of links (core/machine/link_factors.h). Model: time = latency * a + transfer / b, both
/// as collective_parts says, one a and one b for each of: inside a node, its switch's sums, messages between peers,
/// and the same over several nodes. Fitted by robust_fit.h over logarithms; every collective, number of ranks and
/// number of nodes weighs the same, however many sizes were timed. A factor that the timings do not decide stays what
/// it was. Priors, wide: NCCL's own figures lie within 20 % of published bandwidths
/// (tests/reference/nccl_model_test.cpp), but a cable, driver or switch that is set up wrong halves them; published
/// latencies are 0.8 to 3 times its table's (NVIDIA/nccl issue 1259; tests/data/collectives). Not modelled: factors by
/// size; other jobs on the network while it was timed. Checked against: tests/unit/planner/calibrate/link_fit_test.cpp:
/// published bandwidths that the fit did not see.

#include <string>
#include <vector>

#include "core/io/timed_collectives.h"
#include "core/machine/cluster.h"
#include "planner/calibrate/robust_fit.h"

namespace plumbline {

/// One collective on one number of ranks and nodes: medians over its sizes of |predicted / measured - 1|.
struct LinkResidual {
  Collective kind = Collective::all_reduce;
  std::int32_t ranks = 0;
  std::int32_t nodes = 1;
  std::int64_t timings = 0;
  double before = 0;    ///< with the factors that the cluster came with
  double fitted = 0;    ///< no prediction: these timings were fitted
  double left_out = 0;  ///< by a fit without them
};

struct LinkFit {
  LinkFactors factors;  ///< those that the timings decide, and what the cluster had alongside them
  std::vector<LinkResidual> residuals;
};

/// `source`: where the timings come from, for the factors' sources. Throws InputError (where: "ranks") where the
/// cluster cannot hold the ranks (more than a node has, parts of nodes, no network), and where its links would have to
/// carry more than twice what their datasheets say.
[[nodiscard]] LinkFit fit_links(const std::vector<TimedCollective>& timings, const Cluster& cluster,
                                const std::string& source);

}  // namespace plumbline
