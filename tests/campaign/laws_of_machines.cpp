#include "tests/campaign/law_questions.h"

namespace plumbline {
namespace {

template <class Number>
void multiply(Sourced<Number>& number, double factor) {
  number.value = Number(static_cast<typename Number::rep>(static_cast<double>(number.value.value()) * factor));
}

/// The plan on better nodes takes no longer.
template <class Change>
void expect_no_slower(const Subject& s, Finding& f, std::string_view what, Change change) {
  if (chooses(s.strategy())) return;
  f.expect_at_most(step_of(plan_on_nodes(s, change)), s.step() + rounding(s), what);
}

void memory_keeps_plans(const Subject& s, Finding& f) {
  const double more = s.draw.factor(1.1, 8);
  const Plan roomier = plan_on_nodes(s, [&](Node& node) {
    multiply(node.device.memory, more);
    multiply(node.host_memory, more);
  });
  f.expect(roomier.verdict.fits || !s.plan.verdict.fits, "what fitted fits with more memory");
  if (chooses(s.strategy())) {
    // What is chosen uses the memory; each placement is the best to a two-thousandth. What does not fit is chosen to
    // hold least, whatever its step.
    if (s.plan.verdict.fits)
      f.expect_at_most(to_seconds(step_of(roomier)).value(), to_seconds(s.step()).value() * (1 + 1. / 2000), "step");
    return;
  }
  f.expect_equal(step_of(roomier), s.step(), "step");
  f.expect_equal(roomier.prediction.peak_memory, s.prediction().peak_memory, "peak");
}

void memory_bandwidth_speeds_up(const Subject& s, Finding& f) {
  const double more = s.draw.factor(1.01, 10);
  expect_no_slower(s, f, "step with more memory bandwidth",
                   [&](Node& node) { multiply(node.device.memory_bandwidth, more); });
}

void flops_speed_up(const Subject& s, Finding& f) {
  const double more = s.draw.factor(1.01, 10);
  expect_no_slower(s, f, "step with a higher FLOP rate", [&](Node& node) {
    for (auto& [format, peak] : node.device.peaks) multiply(peak, more);
  });
}

void interconnect_speeds_up(const Subject& s, Finding& f) {
  const double more = s.draw.factor(1.01, 10);
  expect_no_slower(s, f, "step with a faster interconnect",
                   [&](Node& node) { multiply(node.interconnect.bandwidth, more); });
}

void network_speeds_up(const Subject& s, Finding& f) {
  const double more = s.draw.factor(1.01, 10);
  expect_no_slower(s, f, "step with a faster network", [&](Node& node) {
    if (node.network) multiply(node.network->bandwidth, more);
  });
}

void host_link_speeds_up(const Subject& s, Finding& f) {
  const double more = s.draw.factor(1.01, 10);
  expect_no_slower(s, f, "step with a faster link to the host",
                   [&](Node& node) { multiply(node.pcie_bandwidth, more); });
}

void everything_speeds_up(const Subject& s, Finding& f) {
  const double more = s.draw.factor(1.01, 10);
  expect_no_slower(s, f, "step with a faster everything", [&](Node& node) {
    multiply(node.device.memory_bandwidth, more);
    for (auto& [format, peak] : node.device.peaks) multiply(peak, more);
    multiply(node.interconnect.bandwidth, more);
    if (node.network) multiply(node.network->bandwidth, more);
    multiply(node.pcie_bandwidth, more);
  });
}

void latency_never_speeds_up(const Subject& s, Finding& f) {
  if (chooses(s.strategy()) || s.asked.machine.cluster.fabric.levels.empty()) return;
  Cluster slower = s.asked.machine.cluster;
  for (NetworkLevel& level : slower.fabric.levels)
    level.latency.value = Seconds(std::max(1e-6, 2 * level.latency.value.value()));
  f.expect_at_most(s.step(), step_of(evaluate(question_of(s.asked, slower), s.strategy())), "step");
}

void oversubscription_never_speeds_up(const Subject& s, Finding& f) {
  if (chooses(s.strategy()) || s.asked.machine.cluster.fabric.levels.empty()) return;
  Cluster slower = s.asked.machine.cluster;
  for (NetworkLevel& level : slower.fabric.levels) level.oversubscription.value *= 2;
  f.expect_at_most(s.step(), step_of(evaluate(question_of(s.asked, slower), s.strategy())), "step");
}

void price_and_power_change_no_time(const Subject& s, Finding& f) {
  Cluster dearer = s.asked.machine.cluster;
  const auto price = price_per_device_hour(dearer);
  if (price) dearer.price_per_device_hour = Sourced<Dollars>{2. * *price};
  for (NodeGroup& group : dearer.groups) {
    multiply(group.node.device.power, 2);
    multiply(group.node.host_power, 2);
  }
  const Plan plan = evaluate(question_of(s.asked, dearer), s.strategy());
  f.expect_equal(step_of(plan), s.step(), "step");
  f.expect_equal(plan.prediction.peak_memory, s.prediction().peak_memory, "peak");
  f.expect_near(plan.prediction.dollars_per_step, 2 * s.prediction().dollars_per_step, "dollars");
  f.expect_near(plan.prediction.joules_per_step, 2 * s.prediction().joules_per_step, "energy");
}

/// Twice the nodes with twice the replicas, each with the same work.
void more_replicas_hold_no_more(const Subject& s, Finding& f) {
  if (chooses(s.strategy()) || s.asked.machine.cluster.groups.size() > 1) return;
  AskedPlan asked = s.asked;
  asked.machine.cluster.groups.front().count *= 2;
  const std::int32_t before = asked.strategy.gradient_ranks();
  asked.strategy.data_parallel *= 2;
  asked.training.global_batch *= 2;
  if (asked.strategy.zero_stage > 0 && asked.strategy.shard_group == before) asked.strategy.shard_group *= 2;
  const Question question = question_of(asked);
  const auto plan = plan_of(question, asked.strategy);
  if (!plan || s.strategy().gradient_ranks() == 1) return;  // one rank alone has no buffers of a communicator
  // More ranks divide less evenly: what is padded is held in every format, gathered too, and a part of it is lost.
  constexpr std::int64_t bytes_per_element = 2 * (4 + 4 + 4 + 8);
  const Bytes padding(bytes_per_element * most_padding(s, 2 * before));
  for (std::size_t rank = 0; rank < s.prediction().stage_memory.size(); ++rank)
    f.expect_at_most(state_bytes(plan->prediction.stage_memory[rank]),
                     state_bytes(s.prediction().stage_memory[rank]) + padding, "states of a rank");
  f.expect_at_most(plan->prediction.peak_memory, s.prediction().peak_memory + padding, "peak");
}

/// The first kind of node counted in two groups is no other machine.
void split_groups_are_the_same(const Subject& s, Finding& f) {
  Cluster cluster = s.asked.machine.cluster;
  if (cluster.groups.front().count < 2) return;
  NodeGroup half = cluster.groups.front();
  half.count /= 2;
  cluster.groups.front().count -= half.count;
  cluster.groups.insert(cluster.groups.begin(), half);
  const Plan plan = evaluate(question_of(s.asked, cluster), s.strategy());
  f.expect_equal(step_of(plan), s.step(), "step");
  f.expect_equal(plan.prediction.peak_memory, s.prediction().peak_memory, "peak");
  f.expect_near(plan.prediction.dollars_per_step, s.prediction().dollars_per_step, "dollars");
  f.expect_equal(plan.verdict.fits, s.plan.verdict.fits, "verdict");
}

/// Of plans of one stage; the stages of a pipeline lie on the kinds in their order.
void order_of_groups_is_no_matter(const Subject& s, Finding& f) {
  Cluster cluster = s.asked.machine.cluster;
  if (cluster.groups.size() < 2 || s.strategy().pipeline_stages > 1) return;
  std::reverse(cluster.groups.begin(), cluster.groups.end());
  const Plan plan = evaluate(question_of(s.asked, cluster), s.strategy());
  f.expect_equal(step_of(plan), s.step(), "step");
  f.expect_equal(plan.prediction.peak_memory, s.prediction().peak_memory, "peak");
  f.expect_equal(plan.prediction.host_memory_per_node, s.prediction().host_memory_per_node, "host memory");
  f.expect_near(plan.prediction.mfu, s.prediction().mfu, "MFU");
  f.expect_near(plan.prediction.dollars_per_step, s.prediction().dollars_per_step, "dollars");
  f.expect_equal(plan.verdict.fits, s.plan.verdict.fits, "verdict");
}

void lifting_the_policy_changes_no_price(const Subject& s, Finding& f) {
  AskedPlan asked = s.asked;
  if (asked.tensor_parallel_across_nodes) return;
  asked.tensor_parallel_across_nodes = true;
  const Plan plan = evaluate(question_of(asked), s.strategy());
  f.expect_equal(step_of(plan), s.step(), "step");
  f.expect_equal(plan.prediction.peak_memory, s.prediction().peak_memory, "peak");
}

}  // namespace

Laws laws_of_machines() {
  return {
      {"more-memory", "More memory keeps every plan that fits, no slower than before.", 8, memory_keeps_plans},
      {"memory-bandwidth", "More memory bandwidth never slows a plan.", 8, memory_bandwidth_speeds_up},
      {"flop-rate", "A higher FLOP rate never slows a plan.", 8, flops_speed_up},
      {"interconnect", "A faster interconnect never slows a plan.", 8, interconnect_speeds_up},
      {"network", "A faster network never slows a plan.", 8, network_speeds_up},
      {"host-link", "A faster link to the host never slows a plan.", 16, host_link_speeds_up},
      {"everything", "A machine that is faster in everything is not slower.", 8, everything_speeds_up},
      {"latency", "Twice the latency never speeds up.", 8, latency_never_speeds_up},
      {"oversubscription", "An oversubscribed network never speeds up.", 16, oversubscription_never_speeds_up},
      {"price", "Price and power change dollars and joules, and nothing else.", 16, price_and_power_change_no_time},
      {"replicas", "Twice the replicas on twice the nodes hold no more each.", 8, more_replicas_hold_no_more},
      {"split-groups", "Equal nodes listed apart are the same machine.", 8, split_groups_are_the_same},
      {"group-order", "The order in which kinds of nodes are listed is no matter to one stage.", 2,
       order_of_groups_is_no_matter},
      {"policy", "Allowing tensor parallelism across nodes changes no price.", 32, lifting_the_policy_changes_no_price},
  };
}

}  // namespace plumbline
