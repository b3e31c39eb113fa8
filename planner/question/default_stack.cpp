#include "planner/question/default_stack.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/cost/extrapolation.h"
#include "core/graph/parameter_count.h"
#include "core/graph/sample_unit.h"
#include "core/machine/abilities.h"
#include "models/calibration_catalog.h"
#include "planner/question/run_features.h"

namespace plumbline {
namespace {

/// What a framework's releases are made for, next to what its record says (planner/frameworks/framework.h).
struct Scope {
  Framework framework = Framework::any;
  bool predicts_tokens_alone = true;  ///< no images, no encoders
  bool is_of_nvidia = false;
  bool needs_bf16_units = false;
  bool needs_joined_devices = false;  ///< by NVLink or its like: its gains are in tensor parallelism
  std::int64_t least_parameters = 0;
};

/// The smallest network with a recipe, Qwen2.5-0.5B (NVIDIA-NeMo/Megatron-Bridge, src/megatron/bridge/recipes).
constexpr std::int64_t least_recipe = 494'000'000;
/// NVIDIA's containers and Transformer Engine ask for Ampere or later, torchtitan trains in bf16 or above (its README);
/// DeepSpeed and PyTorch run wherever PyTorch does.
constexpr std::array scopes{Scope{.framework = Framework::megatron_bridge,
                                  .is_of_nvidia = true,
                                  .needs_bf16_units = true,
                                  .needs_joined_devices = true,
                                  .least_parameters = least_recipe},
                            Scope{.framework = Framework::megatron_lm,
                                  .needs_bf16_units = true,
                                  .needs_joined_devices = true,
                                  .least_parameters = least_recipe},
                            Scope{.framework = Framework::torchtitan, .needs_bf16_units = true},
                            Scope{.framework = Framework::deepspeed, .predicts_tokens_alone = false},
                            Scope{.framework = Framework::pytorch, .predicts_tokens_alone = false},
                            Scope{.framework = Framework::accelerate}};

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

/// What scopes ask of a question, found once.
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

bool divides_experts(Framework framework) {
  const std::vector<Feature>& missing = record_of(framework).missing;
  return std::find(missing.begin(), missing.end(), Feature::expert_parallel) == missing.end();
}

bool serves(const Scope& scope, const Needs& needs, const Training& training) {
  return (!needs.divides_experts || divides_experts(scope.framework)) &&
         (needs.predicts_tokens || !scope.predicts_tokens_alone) && (needs.is_of_nvidia || !scope.is_of_nvidia) &&
         (needs.has_bf16_units || !scope.needs_bf16_units) &&
         (needs.has_joined_devices || !scope.needs_joined_devices) && needs.parameters >= scope.least_parameters &&
         inexpressible(scope.framework, training).empty();
}

/// Composed once, in the order of `scopes`.
const std::vector<StackCalibration>& current_stacks() {
  static const std::vector<StackCalibration> all = [] {
    std::vector<StackCalibration> found;
    for (const Scope& scope : scopes)
      found.push_back(CalibrationSet::shipped().stack(record_of(scope.framework).current_stack));
    return found;
  }();
  return all;
}

/// The device's name, or that of a measured one that the same calibration describes.
std::string as_measured(const Device& device, const std::vector<std::string>& measured) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::vector<std::string>& alike = CalibrationSet::shipped().stated_for(device).devices;
  if (has(measured, device.name) || !has(alike, device.name)) return device.name;
  const auto found =
      std::find_if(measured.begin(), measured.end(), [&](const std::string& name) { return has(alike, name); });
  return found == measured.end() ? device.name : *found;
}

StackCandidate candidate(const Scope& scope, const StackCalibration& stack, RunFeatures run, const Device& device) {
  run.device = as_measured(device, stack.residuals.measured.devices);
  return {scope.framework, stack.name, stack.residuals.regime != CalibrationRegime::unknown,
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
    return {{{Framework::plumbline, std::string(own_stack), true, 0}}, "plan run executes on cores"};
  const RunFeatures run = question_features(graph, facts, training, cluster);
  const Needs needs = needs_of(graph, facts, cluster);
  DefaultStack found;
  for (std::size_t i = 0; i < scopes.size(); ++i)
    if (serves(scopes[i], needs, training))
      found.candidates.push_back(candidate(scopes[i], current_stacks()[i], run, device));
  std::stable_sort(found.candidates.begin(), found.candidates.end(), is_nearer);
  found.why = found.candidates.size() == 1 ? "no other current release trains it"
                                           : "of current releases it was measured nearest";
  if (found.candidates.empty()) {
    const auto any = std::find_if(scopes.begin(), scopes.end(),
                                  [](const Scope& scope) { return scope.framework == Framework::pytorch; });
    found.candidates.push_back(
        candidate(*any, current_stacks()[static_cast<std::size_t>(any - scopes.begin())], run, device));
    found.why = "no framework has its recipe, and PyTorch runs every network";
  }
  if (training.adaptation.lora_rank > 0) {
    const auto peft = std::find_if(found.candidates.begin(), found.candidates.end(),
                                   [](const StackCandidate& one) { return one.framework == Framework::accelerate; });
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
