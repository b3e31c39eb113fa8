#pragma once
/// \file branch_and_bound.h: best-first branch and bound, with the same outcome on any number of threads.
///
/// Model: a node stands for one or more answers, none of which scores less than `node.score`. A round takes the best
/// bounded of the open nodes, as long as the cutoff lets them win, and opens each on some thread, which sees what was
/// found before the round and nothing of the others. What came of them is then taken in the order of the round: nodes
/// with tighter bounds, or of parts, are open in turn; answers tighten the cutoff. A round's size does not depend on
/// the threads, so neither does the outcome. Of nodes whose opening takes far longer than that of the others a round
/// holds few, so that what they are compared with is found early.
/// Source: A. Land and A. Doig, "An Automatic Method of Solving Discrete Programming Problems", Econometrica 28 (1960).
/// Checked against: tests/unit/planner/search/branch_and_bound_test.cpp (all answers of drawn trees).

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "planner/search/parallel.h"

namespace plumbline {

/// How long it takes to open a node.
enum class Effort : std::uint8_t { small, large };
/// Whether a node can still win: it can; it cannot, but one behind it may; neither it nor any node of a larger bound.
enum class Chance : std::uint8_t { some, none, none_from_here };
/// Whether a round holds nodes of the best one's effort alone, in their order, or the best of all.
enum class Round : std::uint8_t { of_one_effort, mixed };

struct RoundSize {
  Round kind = Round::mixed;
  std::size_t most = 0;
  std::size_t most_large = 0;  ///< of them, those of large effort
};

/// Open nodes of one effort, least score first, of equals that which was added first.
template <class Node>
class OpenNodes {
 public:
  OpenNodes() = default;
  /// In their order.
  explicit OpenNodes(std::vector<Node> sorted) : sorted_(std::move(sorted)) {}

  [[nodiscard]] std::size_t size() const { return sorted_.size() - next_ + added_.size(); }
  [[nodiscard]] const Node& best() const { return is_sorted_first() ? sorted_[next_] : added_.front().node; }
  void add(Node node) {
    added_.push_back({std::move(node), count_++});
    std::push_heap(added_.begin(), added_.end(), is_later);
  }
  Node take_best() {
    if (is_sorted_first()) return std::move(sorted_[next_++]);
    std::pop_heap(added_.begin(), added_.end(), is_later);
    Node best = std::move(added_.back().node);
    added_.pop_back();
    return best;
  }
  /// Those given at first in their order, then the others in none.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = next_; i < sorted_.size(); ++i) visit(sorted_[i]);
    for (const Added& one : added_) visit(one.node);
  }

 private:
  struct Added {
    Node node;
    std::uint64_t place = 0;
  };
  static bool is_later(const Added& a, const Added& b) {
    return a.node.score != b.node.score ? a.node.score > b.node.score : a.place > b.place;
  }
  [[nodiscard]] bool is_sorted_first() const {
    return next_ < sorted_.size() && (added_.empty() || sorted_[next_].score <= added_.front().node.score);
  }

  std::vector<Node> sorted_;
  std::size_t next_ = 0;      ///< the first of them that is still open
  std::vector<Added> added_;  ///< a heap
  std::uint64_t count_ = 0;
};

/// A problem says:
///   using Node, with a member `score`; using Opened
///   RoundSize round_size() const          of the next round
///   Effort effort(const Node&) const
///   Chance chance(const Node&) const      by what has been found
///   void leave_out(const Node&)           one with no chance
///   Opened opened(const Node&) const      from any thread
///   void take(const Node&, Opened, BranchAndBound&)   what came of it; adds nodes
///   void end_round(const BranchAndBound&)             all of a round are taken: tightens the cutoff
template <class Problem>
class BranchAndBound {
 public:
  using Node = typename Problem::Node;

  /// `sorted`: nodes of small effort, least score first.
  explicit BranchAndBound(Problem& problem, std::vector<Node> sorted = {})
      : problem_(problem), small_(std::move(sorted)) {}

  void add(Node node) {
    OpenNodes<Node>& nodes = of(problem_.effort(node));
    nodes.add(std::move(node));
  }
  /// Opens nodes until none can win, or until it is asked to stop: then false.
  bool run(std::int32_t threads, const StopRequest& stop) {
    using Opened = typename Problem::Opened;
    for (;;) {
      const NextRound round = next_round();
      if (round.nodes.empty() && !round.has_left_out) return true;
      std::vector<std::optional<Opened>> opened(round.nodes.size());
      const bool is_done = parallel_for(
          opened.size(), threads, [&](std::size_t i) { opened[i].emplace(problem_.opened(round.nodes[i])); }, stop);
      for (std::size_t i = 0; i < opened.size(); ++i)
        if (opened[i])
          problem_.take(round.nodes[i], std::move(*opened[i]), *this);
        else
          unopened_.push_back(round.nodes[i]);
      problem_.end_round(*this);
      if (!is_done) return false;
    }
  }

  /// Nodes that are open, but for those that a stop left of its round.
  [[nodiscard]] std::size_t open(Effort effort) const { return of(effort).size(); }
  /// All nodes that are open: those that a stop left of its round, then those of small effort, both in their order.
  template <class Visit>
  void for_each_open(const Visit& visit) const {
    for (const Node& node : unopened_) visit(node);
    small_.for_each(visit);
    large_.for_each(visit);
  }

 private:
  struct NextRound {
    std::vector<Node> nodes;
    bool has_left_out = false;
  };

  OpenNodes<Node>& of(Effort effort) { return effort == Effort::small ? small_ : large_; }
  const OpenNodes<Node>& of(Effort effort) const { return effort == Effort::small ? small_ : large_; }
  /// Of the best node: of equals that which takes long, since its bound was the smaller at first.
  [[nodiscard]] Effort best_effort() const {
    if (large_.size() == 0) return Effort::small;
    return small_.size() == 0 || large_.best().score <= small_.best().score ? Effort::large : Effort::small;
  }

  NextRound next_round() {
    NextRound round;
    const RoundSize size = problem_.round_size();
    const Effort first = best_effort();
    for (std::size_t large = 0; round.nodes.size() < size.most;) {
      const Effort effort = size.kind == Round::of_one_effort ? first : best_effort();
      OpenNodes<Node>& nodes = of(effort);
      if (nodes.size() == 0) break;
      if (effort == Effort::large && large == size.most_large) break;
      const Chance chance = problem_.chance(nodes.best());
      if (chance == Chance::none_from_here) break;
      Node node = nodes.take_best();
      if (chance == Chance::none) {
        problem_.leave_out(node);
        round.has_left_out = true;
        continue;
      }
      large += effort == Effort::large ? 1 : 0;
      round.nodes.push_back(std::move(node));
    }
    return round;
  }

  Problem& problem_;
  OpenNodes<Node> small_;
  OpenNodes<Node> large_;
  std::vector<Node> unopened_;
};

}  // namespace plumbline
