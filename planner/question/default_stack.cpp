#include "planner/question/default_stack.h"

#include <algorithm>
#include <map>

#include "core/cost/extrapolation.h"
#include "core/graph/parameter_count.h"
#include "core/graph/sample_unit.h"
#include "core/machine/abilities.h"
#include "models/calibration_catalog.h"
#include "planner/question/run_features.h"

namespace plumbline {
namespace {

bool predicts_tokens(const Graph& graph) {
  if (sample_unit(graph) == SampleUnit::image) return false;
  for (const Block& block : graph.blocks())
    for (const Op& op : block.ops())
      if (const auto* attention = std::get_if<AttentionAttributes>(&op.attributes); attention && !attention->causal)
        return false;
  return true;
}

bool joins_devices(const Cluster& cluster) {
  return std::all_of(cluster.groups.begin(), cluster.groups.end(),
                     [](const NodeGroup& group) { return group.node.interconnect.kind != InterconnectKind::pcie; });
}

/// What FrameworkScope asks of a question, found once.
struct Needs {
  bool predicts_tokens = true;
  bool divides_experts = false;  ///< there are some, and several GPUs
  bool is_of_nvidia = true;
  bool has_bf16_units = true;
  bool has_joined_devices = true;
  std::int64_t parameters = 0;
};

Needs needs_of(const Graph& graph, const Divisibility& facts, const Cluster& cluster) {
  Needs needs{.predicts_tokens = predicts_tokens(graph),
              .divides_experts = !facts.experts.empty() && device_count(cluster) > 1,
              .has_joined_devices = joins_devices(cluster),
              .parameters = parameter_count(graph)};
  for (const NodeGroup& group : cluster.groups) {
    needs.is_of_nvidia = needs.is_of_nvidia && group.node.device.vendor == "NVIDIA";
    needs.has_bf16_units = needs.has_bf16_units && has_units(group.node.device, NumberFormat::bf16);
  }
  return needs;
}

bool divides_experts(const FrameworkRecord& record) {
  return std::find(record.missing.begin(), record.missing.end(), Feature::expert_parallel) == record.missing.end();
}

bool serves(const FrameworkRecord& record, const Needs& needs, const Training& training) {
  if (!record.scope) return false;
  const FrameworkScope& scope = *record.scope;
  return (!needs.divides_experts || divides_experts(record)) && (needs.predicts_tokens || scope.has_every_network) &&
         (needs.is_of_nvidia || !scope.needs_nvidia) && (needs.has_bf16_units || !scope.needs_bf16_units) &&
         (needs.has_joined_devices || !scope.needs_joined_devices) && needs.parameters >= scope.least_parameters &&
         inexpressible(record.framework, training).empty();
}

/// Composed once for each framework: every question asks.
const StackCalibration& current_stack(const FrameworkRecord& record) {
  static const std::map<Framework, StackCalibration> all = [] {
    std::map<Framework, StackCalibration> found;
    for (const Framework framework : all_frameworks)
      if (framework != Framework::any && record_of(framework).scope)
        found.emplace(framework, CalibrationSet::shipped().stack(record_of(framework).current_stack));
    return found;
  }();
  return all.at(record.framework);
}

/// The device's name, or that of a measured one that the same calibration describes.
std::string as_measured(const Device& device, const std::vector<std::string>& measured) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::vector<std::string>& described = CalibrationSet::shipped().stated_for(device).devices;
  if (has(measured, device.name) || !has(described, device.name)) return device.name;
  const auto found =
      std::find_if(measured.begin(), measured.end(), [&](const std::string& name) { return has(described, name); });
  return found == measured.end() ? device.name : *found;
}

StackCandidate candidate(const FrameworkRecord& record, RunFeatures run, const Device& device) {
  const StackCalibration& stack = current_stack(record);
  run.device = as_measured(device, stack.residuals.measured.devices);
  return {record.framework, stack.name, stack.residuals.regime != CalibrationRegime::unknown,
          stack_time_sigma(stack, run)};
}

bool is_nearer(const StackCandidate& a, const StackCandidate& b) {
  return a.was_measured != b.was_measured ? a.was_measured : a.time_sigma < b.time_sigma;
}

}  // namespace

DefaultStack default_stack(const Graph& graph, const Divisibility& facts, const Training& training,
                           const Cluster& cluster) {
  const Device device = slowest_device(cluster);
  if (device.architecture == DeviceArchitecture::cpu)
    return {{{own_framework(), std::string(own_stack), true, 0}}, "plan run executes on cores"};
  const RunFeatures run = question_features(graph, facts, training, cluster);
  const Needs needs = needs_of(graph, facts, cluster);
  DefaultStack found;
  for (const Framework framework : all_frameworks)
    if (framework != Framework::any && serves(record_of(framework), needs, training))
      found.candidates.push_back(candidate(record_of(framework), run, device));
  std::stable_sort(found.candidates.begin(), found.candidates.end(), is_nearer);
  found.why = found.candidates.size() == 1 ? "no other current release trains it"
                                           : "of current releases it was measured nearest";
  if (found.candidates.empty()) {
    found.candidates.push_back(candidate(record_of(last_resort()), run, device));
    found.why =
        "no framework has its recipe, and " + std::string(record_of(last_resort()).title) + " runs every network";
  }
  if (training.adaptation.lora_rank > 0) {
    const auto peft = std::find_if(found.candidates.begin(), found.candidates.end(),
                                   [](const StackCandidate& one) { return one.framework == usual_of_adapters(); });
    if (peft != found.candidates.end()) {
      std::rotate(found.candidates.begin(), peft, peft + 1);
      found.why = "PEFT's adapters are launched with it; no current release was measured with adapters";
    }
  }
  return found;
}

NumberFormat default_gradients(std::string_view stack, PrecisionRecipe precision) {
  const CalibrationSet& set = CalibrationSet::shipped();
  if (const auto stated = set.gradient_format(stack, precision)) return *stated;
  const PrecisionFormats formats = precision_formats(precision);
  const Framework framework = framework_of_stack(set.software_stack(stack).framework);
  const bool has_default = framework != Framework::any && formats.weight == NumberFormat::bf16 && formats.master;
  return has_default ? record_of(framework).defaults.gradient : formats.gradient;
}

}  // namespace plumbline
