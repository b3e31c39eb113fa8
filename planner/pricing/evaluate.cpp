#include "planner/pricing/evaluate.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/cost/host_share.h"
#include "core/cost/time_limits.h"
#include "core/graph/parameter_count.h"
#include "core/io/calibration_json.h"
#include "core/quantity/text.h"
#include "models/calibration_set.h"
#include "planner/pricing/plan_layout.h"
#include "planner/pricing/predict.h"
#include "planner/pricing/priced.h"
#include "planner/pricing/trust.h"
#include "planner/question/fingerprint.h"

namespace plumbline {
namespace {

/// "8 x A and 8 x B".
std::string mixture_of(const Cluster& cluster) {
  return cluster.groups.size() == 1 ? "" : devices_text(cluster, 0, device_count(cluster));
}

std::vector<NodeKind> kinds_of(const Cluster& cluster) {
  std::vector<NodeKind> kinds;
  if (cluster.groups.size() == 1) return kinds;
  for (const NodeGroup& group : cluster.groups)
    kinds.push_back({group.node.device.name, group.count, group.node.devices});
  return kinds;
}

bool is_catalogued(const std::string& stack) {
  const std::vector<SoftwareStack>& all = CalibrationSet::shipped().stacks();
  return std::any_of(all.begin(), all.end(), [&](const SoftwareStack& one) {
    return one.name == stack || std::find(one.aliases.begin(), one.aliases.end(), stack) != one.aliases.end();
  });
}

/// What finds the stack again when the plan is read: its name with the release, or the file that holds it.
std::string stack_reference(const Question& question) {
  const std::string& asked = question.text().stack;
  return asked.empty() || is_catalogued(asked) ? question.calibration().stack.name : asked;
}

/// Of the devices that the strategy's stages compute on, each once.
std::vector<const DeviceCalibration*> device_calibrations(const Question& question, const Strategy& strategy) {
  const StageSites sites = question.stage_sites(strategy);
  std::vector<const DeviceCalibration*> found;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(strategy.pipeline_stages); ++rank) {
    const DeviceCalibration& device = question.block_pricer(sites.site(rank)).kernels().calibration().device;
    if (std::none_of(found.begin(), found.end(), [&](const auto* one) { return one->name == device.name; }))
      found.push_back(&device);
  }
  return found;
}

Provenance provenance_of(const Question& question, const Strategy& strategy, const Uncertainty& uncertainty) {
  Provenance provenance;
  provenance.trust = trust_in(uncertainty);
  const std::vector<const DeviceCalibration*> devices = device_calibrations(question, strategy);
  for (const DeviceCalibration* device : devices)
    provenance.device_calibration += (device == devices.front() ? "" : " and ") + device->name;
  provenance.stack_calibration = stack_reference(question);
  provenance.stack_is_default = question.has_usual_stack();
  if (provenance.stack_is_default) provenance.stack_why = question.usual_stack().why;
  const auto add = [&](const std::string& owner, const std::vector<NamedCoefficient>& all) {
    for (const NamedCoefficient& c : all)
      if (c.coefficient.kind == "assumed")
        provenance.assumed.push_back({owner + " " + c.name, c.coefficient.value, c.coefficient.source});
  };
  for (const DeviceCalibration* device : devices) add(device->name, coefficients(*device));
  add(question.calibration().stack.name, coefficients(question.calibration().stack));
  if (!question.network().note.empty()) provenance.notes.push_back(question.network().note);
  return provenance;
}

std::int64_t trained_parameters(const Graph& graph) {
  std::int64_t sum = 0;
  for (const BlockRun& run : graph.runs())
    for (const Op& op : graph.block(run.block).ops())
      for (const TensorId id : op.parameters) {
        const Tensor& t = graph.block(run.block).tensor(id);
        if (t.trainable && !t.tied) sum += run.count * element_count(t.shape, {});
      }
  return sum;
}

}  // namespace

Plan evaluate(const Question& question, const Strategy& strategy, KnownPrograms* known) {
  const std::vector<BlockCost> blocks = block_costs(question, strategy, known);
  const StageLayout layout = layout_of(question, strategy, blocks);
  const StageTable stages(question.graph(), layout, blocks);
  const Network& network = question.network();
  const Node& node = question.cluster().groups.front().node;
  Plan plan;
  plan.model = {network.name,
                question.text().model,
                parameter_count(network.graph),
                active_parameter_count(network.graph),
                trained_parameters(question.graph()),
                network.graph.layer_count(),
                fingerprint(question.graph()),
                sample_unit(network.graph)};
  plan.machine = {question.cluster().name,
                  question.text().machine,
                  slowest_device(question.cluster()).name,
                  question.devices(),
                  node.devices,
                  node_count(question.cluster()),
                  fingerprint(question.cluster()),
                  mixture_of(question.cluster()),
                  kinds_of(question.cluster()),
                  question.text().price_per_device_hour};
  plan.training = question.training();
  plan.strategy = strategy;
  plan.layout = plan_layout(question, stages, blocks, strategy);
  plan.prediction = predict(question, stages, strategy);
  plan.run = run_cost(question, plan.prediction);
  plan.verdict = verdict_of(question, plan.prediction, strategy, host_memory(question, stages, strategy).available);
  const double launched = host_share(stages, strategy.micro_batches, plan.prediction.time.total());
  plan.provenance = provenance_of(question, strategy, uncertainty_of(question, strategy, launched));
  return plan;
}

bool is_priceable(const Plan& plan) { return plan.prediction.time.total() <= longest_step; }

void require_priceable(const Plan& plan) {
  if (is_priceable(plan)) return;
  throw InputError({"step", "takes more than 24 hours on " + plan.machine.devices_text(),
                    "at most 24 hours: a smaller global batch, shorter sequences, or more GPUs", ""});
}

}  // namespace plumbline
