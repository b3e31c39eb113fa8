#include "planner/calibrate/run_pricer.h"

#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"
#include "core/cost/host_share.h"
#include "core/cost/network_share.h"
#include "core/cost/stack_shard.h"

namespace plumbline {
namespace {

template <class T>
void strip(Sourced<T>& number) {
  number.source.clear();
  number.date.clear();
}
template <class T>
void strip(std::optional<Sourced<T>>& number) {
  if (number) strip(*number);
}
void strip(Coefficient& coefficient) {
  coefficient.kind.clear();
  coefficient.source.clear();
}

void strip(Device& device) {
  strip(device.memory);
  strip(device.memory_bandwidth);
  for (auto& [format, peak] : device.peaks) strip(peak);
  strip(device.l2_cache);
  strip(device.power);
  strip(device.price_per_hour);
}

}  // namespace

Cluster without_sources(Cluster cluster) {
  for (NodeGroup& group : cluster.groups) {
    Node& node = group.node;
    strip(node.device);
    strip(node.interconnect.bandwidth);
    if (node.network) strip(node.network->bandwidth);
    strip(node.host_memory);
    strip(node.pcie_bandwidth);
    strip(node.nvme);
    strip(node.nvme_bandwidth);
    strip(node.host_power);
  }
  for (NetworkLevel& level : cluster.fabric.levels) {
    strip(level.latency);
    strip(level.oversubscription);
  }
  strip(cluster.price_per_device_hour);
  return cluster;
}

Calibration without_sources(Calibration calibration) {
  for (ProductEfficiency& product : calibration.device.products) {
    strip(product.peak_fraction);
    strip(product.half_depth);
  }
  for (const auto& field : device_fields) strip(field.of(calibration.device));
  for (const auto& field : stack_fields) strip(field.of(calibration.stack));
  if (calibration.device.shapes)
    for (ShapeSource* source :
         {&calibration.device.shapes->tiles_source, &calibration.device.shapes->splits_source,
          &calibration.device.shapes->alignments_source, &calibration.device.shapes->head_alignments_source})
      *source = {};
  calibration.device.devices.clear();
  calibration.stack.description.clear();
  return calibration;
}

RunPricer::RunPricer(const Question& question, Strategy strategy)
    : graph_(question.graph()),
      cluster_(without_sources(question.cluster())),
      training_(question.training()),
      strategy_(std::move(strategy)),
      layout_(layout_of(question, strategy_)) {
  check(strategy_.recompute.mode != RecomputeMode::placed && strategy_.split == StageSplit::even,
        "the layout of a measured run does not depend on prices");
}

template <class Answer>
auto RunPricer::of_step(const Cluster& cluster, const Calibration& calibration, Answer answer) const {
  const BlockPricer pricer(cluster, calibration);
  const Shard shard = shard_of(strategy_, training_, calibration.stack);
  const BlockGroups groups = block_groups(strategy_);
  std::vector<BlockCost> blocks;
  for (const Block& block : graph_.blocks()) blocks.push_back(pricer.price(block, shard, groups));
  const StageTable stages(graph_, layout_, blocks);
  return answer(StepPricer(pricer, training_), stages);
}

double RunPricer::step_s(const Calibration& calibration) const {
  return of_step(cluster_, calibration, [&](const StepPricer& pricer, const StageTable& stages) {
    return to_seconds(pricer.total(stages, strategy_)).value();
  });
}

double RunPricer::host_share(const Calibration& calibration) const {
  return of_step(cluster_, calibration, [&](const StepPricer& pricer, const StageTable& stages) {
    return plumbline::host_share(stages, strategy_.micro_batches, pricer.total(stages, strategy_));
  });
}

double RunPricer::network_share(const Calibration& calibration) const {
  return plumbline::network_share(cluster_, [&](const Cluster& cluster) {
    return of_step(cluster, calibration,
                   [&](const StepPricer& pricer, const StageTable& stages) { return pricer.total(stages, strategy_); });
  });
}

}  // namespace plumbline
