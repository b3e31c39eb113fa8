#include "planner/checkpointing/block_frontier.h"

#include <map>

#include "planner/pareto/front.h"

namespace plumbline {
namespace {

using Cost = ParetoPoint<3>;  // kept bytes, time, restored bytes

/// A partial choice about the ops behind one point of the block; its replays are a list that later labels share.
struct Label {
  Cost cost{};
  std::int32_t last_replay = -1;  ///< index into the replays
};
struct Replay {
  std::int32_t op = 0;
  std::int32_t before = -1;
};
/// Which values are read by what comes later; values already decided are false.
using Reads = std::vector<bool>;

class Sweep {
 public:
  Sweep(const RecomputeProblem& problem, Restored restored, std::size_t most)
      : problem_(problem), restored_(restored), most_(most) {}

  std::optional<std::vector<RecomputeChoice>> run() {
    Reads reads;
    for (const RecomputeValue& value : problem_.values) reads.push_back(value.needed);
    labels_[reads].push_back({});
    for (std::size_t o = problem_.ops.size(); o-- > 0;) {
      step(static_cast<std::int32_t>(o));
      if (label_count() > most_) return std::nullopt;
    }
    return finish();
  }

 private:
  void step(std::int32_t o);
  void prune();
  std::size_t label_count() const {
    std::size_t count = 0;
    for (const auto& [reads, labels] : labels_) count += labels.size();
    return count;
  }
  std::vector<RecomputeChoice> finish();
  std::vector<bool> replayed(const Label& label) const;

  const RecomputeProblem& problem_;
  Restored restored_;
  std::size_t most_;
  std::map<Reads, std::vector<Label>> labels_;
  std::vector<Replay> replays_;
};

void Sweep::step(std::int32_t o) {
  const RecomputeOp& op = problem_.ops[static_cast<std::size_t>(o)];
  std::map<Reads, std::vector<Label>> before;
  before.swap(labels_);
  for (auto& [reads, labels] : before) {
    Cost kept{};
    Cost replayed{0, op.time.value(), 0};
    bool any = false;
    Reads without = reads;
    for (const std::int32_t output : op.outputs) {
      const auto v = static_cast<std::size_t>(output);
      if (!reads[v]) continue;
      any = true;
      without[v] = false;
      kept[0] += problem_.values[v].size.value();
      if (restored_ == Restored::counted && problem_.values[v].needed) replayed[2] += problem_.values[v].size.value();
    }
    Reads with_inputs = without;
    for (const std::int32_t input : op.inputs) with_inputs[static_cast<std::size_t>(input)] = true;
    const auto add = [](Cost cost, const Cost& more) {
      for (std::size_t k = 0; k < cost.size(); ++k) cost[k] += more[k];
      return cost;
    };
    for (const Label& label : labels) {
      labels_[without].push_back({add(label.cost, kept), label.last_replay});
      if (!any || !op.can_replay) continue;
      labels_[with_inputs].push_back({add(label.cost, replayed), static_cast<std::int32_t>(replays_.size())});
      replays_.push_back({o, label.last_replay});
    }
  }
  prune();
}

void Sweep::prune() {
  for (auto& [reads, labels] : labels_) {
    std::vector<Cost> costs;
    for (const Label& label : labels) costs.push_back(label.cost);
    std::vector<Label> front;
    for (const std::size_t i : pareto_front(costs)) front.push_back(labels[i]);
    labels = std::move(front);
  }
}

std::vector<bool> Sweep::replayed(const Label& label) const {
  std::vector<bool> ops(problem_.ops.size(), false);
  for (std::int32_t r = label.last_replay; r >= 0; r = replays_[static_cast<std::size_t>(r)].before)
    ops[static_cast<std::size_t>(replays_[static_cast<std::size_t>(r)].op)] = true;
  return ops;
}

/// What is still read enters the block and is kept.
std::vector<RecomputeChoice> Sweep::finish() {
  std::vector<Label> all;
  std::vector<Cost> costs;
  for (const auto& [reads, labels] : labels_) {
    Bytes entering(0);
    for (std::size_t v = 0; v < reads.size(); ++v)
      if (reads[v]) entering += problem_.values[v].size;
    for (const Label& label : labels) {
      all.push_back(label);
      costs.push_back({label.cost[0] + entering.value(), label.cost[1], label.cost[2]});
    }
  }
  std::vector<RecomputeChoice> choices;
  for (const std::size_t i : pareto_front(costs)) choices.push_back(price_choice(problem_, replayed(all[i])));
  return choices;
}

}  // namespace

std::optional<std::vector<RecomputeChoice>> block_choices_up_to(const RecomputeProblem& problem, Restored restored,
                                                                std::size_t most) {
  return Sweep(problem, restored, most).run();
}

}  // namespace plumbline
