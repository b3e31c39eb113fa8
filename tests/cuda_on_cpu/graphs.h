#pragma once
/// \file graphs.h: graphs that were captured, and launches of them. Not for tests or kernels.
///
/// Model: a launch is one entry of its stream; its nodes run one at a time, drawn from those whose needs have run, with
/// the arguments and addresses that they were captured with. Entries of other streams run between them. Not modelled:
/// nodes that are added or changed by hand, launches of one graph on several streams at a time.
/// Checked against: tests/cuda_on_cpu/graphs_test.cpp.

#include <memory>
#include <vector>

#include "tests/cuda_on_cpu/captures.h"

namespace cuda_on_cpu {

/// One launch.
struct GraphRun {
  explicit GraphRun(std::shared_ptr<const std::vector<GraphNode>> of) : nodes(std::move(of)), has_run(nodes->size()) {}
  /// Nodes that may run next.
  [[nodiscard]] std::vector<std::size_t> ready() const;

  std::shared_ptr<const std::vector<GraphNode>> nodes;
  std::vector<bool> has_run;
  std::size_t done = 0;
};

}  // namespace cuda_on_cpu
