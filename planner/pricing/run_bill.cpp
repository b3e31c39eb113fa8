#include "planner/pricing/run_bill.h"

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr double grams_per_kg = 1000;

std::int64_t steps_of(const Training& training) {
  const std::int64_t tokens_per_step = training.global_batch * training.sequence_length;
  const std::int64_t tokens = training.token_budget.value_or(0);
  return tokens / tokens_per_step + (tokens % tokens_per_step == 0 ? 0 : 1);
}

}  // namespace

std::optional<Sourced<Dollars>> sourced_price(const Cluster& cluster) {
  if (cluster.price_per_device_hour) return cluster.price_per_device_hour;
  if (cluster.groups.size() == 1) return cluster.groups.front().node.device.price_per_hour;
  const std::optional<Dollars> mean = plumbline::price_per_device_hour(cluster);
  if (!mean) return std::nullopt;
  return Sourced<Dollars>{*mean, "mean of the devices' prices", SourceKind::assumed, ""};
}

PowerFigures power_figures(const Cluster& cluster) {
  const Node& first = cluster.groups.front().node;
  PowerFigures power{first.device.power, first.host_power};
  if (cluster.groups.size() == 1) return power;
  power.device = {Watts(0), "mean of the machine's devices", first.device.power.kind, first.device.power.date};
  power.host = {Watts(0), "mean of the machine's nodes", first.host_power.kind, first.host_power.date};
  for (const NodeGroup& group : cluster.groups) {
    const double devices = static_cast<double>(group.count) * group.node.devices;
    power.device.value += devices / static_cast<double>(device_count(cluster)) * group.node.device.power.value;
    power.host.value +=
        static_cast<double>(group.count) / static_cast<double>(node_count(cluster)) * group.node.host_power.value;
  }
  return power;
}

Interval ranking_step(const Plan& plan) {
  const Interval& closed = plan.prediction.step_time_s;
  if (!plan.prediction.simulated_step || closed.expected <= 0) return closed;
  const double ratio = plan.prediction.simulated_step->value() / closed.expected;
  return {closed.low * ratio, closed.expected * ratio, closed.high * ratio};
}

RunBill run_bill(const Plan& plan, const BillTerms& terms) {
  check(plan.training.token_budget.has_value(), "a bill needs a token budget");
  const Interval step = ranking_step(plan);
  RunBill bill;
  bill.steps = steps_of(plan.training);
  const auto steps = static_cast<double>(bill.steps);
  bill.days = {steps * step.low / seconds_per_day, steps * step.expected / seconds_per_day,
               steps * step.high / seconds_per_day};
  bill.gpu_hours = steps * step.expected / seconds_per_hour * static_cast<double>(plan.machine.devices);
  if (terms.price_per_device_hour) bill.dollars = terms.price_per_device_hour->value * bill.gpu_hours;
  const double watts = plan.prediction.joules_per_step / plan.prediction.step_time_s.expected;
  bill.energy_kwh = steps * step.expected * watts / joules_per_kwh * terms.facility.power_usage_effectiveness.value;
  bill.co2_kg = bill.energy_kwh * terms.facility.grid_grams_per_kwh.value / grams_per_kg;
  return bill;
}

}  // namespace plumbline
