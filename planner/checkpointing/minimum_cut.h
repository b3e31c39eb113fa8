#pragma once
/// \file minimum_cut.h: minimum cuts and minimum-weight closures, in integers.
///
/// Model: a closure is a choice of binary variables under implications `first` => `second`; its least weight is a
/// minimum s-t cut. The answer is the cut nearest the source, so the least set of chosen variables: one answer among
/// equals, the same everywhere.
/// Source: Picard, Management Science 22 (1976); push-relabel of Boost.Graph.
/// Checked against: tests/property/block_frontier_test.cpp (all subsets), tests/reference/oracles (mincut-*, exact).

#include <cstdint>
#include <utility>
#include <vector>

namespace plumbline {

struct CutArc {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int64_t capacity = 0;
};
/// Which vertices stay with `source` in the minimum cut.
[[nodiscard]] std::vector<bool> minimum_cut(std::int32_t vertices, const std::vector<CutArc>& arcs, std::int32_t source,
                                            std::int32_t sink);

enum class Fixed : std::uint8_t { free, chosen, refused };
struct ClosureProblem {
  std::vector<std::int64_t> weights;  ///< of choosing each variable
  std::vector<Fixed> fixed;
  std::vector<std::pair<std::int32_t, std::int32_t>> implications;
};
/// The chosen variables of least total weight, the fewest among equals.
[[nodiscard]] std::vector<bool> minimum_closure(const ClosureProblem& problem);

}  // namespace plumbline
