#include "planner/question/question.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.h"
#include "core/cost/stage_memory.h"
#include "core/machine/abilities.h"
#include "core/quantity/text.h"
#include "core/training/adaptation.h"
#include "core/training/limits.h"
#include "models/calibration_catalog.h"
#include "models/import/hugging_face.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/question/default_stack.h"

namespace plumbline {
namespace {

/// What is trained when nobody says: long contexts are a later phase of training, so the longest that a model can take
/// is no sensible default.
constexpr std::int64_t longest_default_sequence = 8192;

void require_range(std::string_view where, std::int64_t value, std::int64_t largest) {
  if (value >= 1 && value <= largest) return;
  throw InputError({std::string(where), std::to_string(value) + " is out of range", "1 to " + std::to_string(largest),
                    std::to_string(value < 1 ? 1 : largest)});
}

/// Whether the units of a device multiply as a recipe says.
bool multiplies(const Device& device, PrecisionRecipe recipe) {
  const PrecisionFormats formats = precision_formats(recipe);
  if (!has_units(device, formats.matmul)) return false;
  const bool is_emulated = device.architecture == DeviceArchitecture::cpu && bits(formats.matmul) == 8;
  return is_emulated || formats.scaling != OperandScaling::microscaled || device.scales_blocks();
}

/// What to take where a device has no units for a recipe.
PrecisionRecipe nearest_recipe(const Device& device, PrecisionRecipe recipe) {
  if (recipe == PrecisionRecipe::tf32) return PrecisionRecipe::fp32;
  if (recipe == PrecisionRecipe::bf16_pure) return PrecisionRecipe::fp16_pure;
  return multiplies(device, PrecisionRecipe::bf16) ? PrecisionRecipe::bf16 : PrecisionRecipe::fp16;
}

std::string operands(const PrecisionFormats& formats) {
  const bool in_blocks = formats.scaling == OperandScaling::microscaled && bits(formats.matmul) == 8;
  return std::string(to_text(formats.matmul)) + (in_blocks ? " with a scale for every 32 numbers" : "");
}

std::int64_t tokens_of(std::int64_t samples, std::int64_t sequence_length) {
  require_range("sequence length", sequence_length, longest_sequence);
  require_range("samples", samples, most_tokens / sequence_length);
  return samples * sequence_length;
}

std::int64_t sequence_length_of(const QuestionText& text, const Network& network) {
  if (text.training.sequence_length != 0) return text.training.sequence_length;
  return std::clamp<std::int64_t>(network.default_sequence_length, 1, longest_default_sequence);
}

DefaultStack default_stack_of(const QuestionText& text, const Network& network, const Cluster& cluster) {
  Training training = text.training;
  training.sequence_length = sequence_length_of(text, network);
  return default_stack(network.graph, divisibility(network.graph), training, cluster);
}

/// With the stack that prices by its full name, and every number that a default fills; `usual`: of this question.
QuestionText with_defaults(QuestionText text, const Network& network, const DefaultStack& usual) {
  if (text.stack.empty()) text.stack = usual.taken().stack;
  text.stack = stack_with(text.stack, text.choices);
  text.choices = {};
  text.training.sequence_length = sequence_length_of(text, network);
  if (text.sample_budget) text.training.token_budget = tokens_of(*text.sample_budget, text.training.sequence_length);
  if (!text.training.gradient_format)
    text.training.gradient_format = default_gradients(text.stack, text.training.precision);
  require_range("sequence length", text.training.sequence_length, longest_sequence);
  require_range("global batch", text.training.global_batch, largest_global_batch);
  if (text.training.token_budget) require_range("tokens", *text.training.token_budget, most_tokens);
  return text;
}

Cluster sized(const QuestionText& text) {
  Cluster cluster = find_machine(text.machine);
  if (text.devices == 0) return cluster;
  require_range("gpus", text.devices, most_devices);
  return with_device_count(cluster, text.devices);
}

Graph countable(Graph graph) {
  require_countable("model", graph);
  return graph;
}

void require_room(const Headroom& headroom, Bytes memory) {
  const Bytes free = headroom.of(memory);
  if (free < memory) return;
  throw InputError({"headroom", to_text(free) + " leaves nothing of a device's " + to_text(memory),
                    "a share below 100%, or less than the device has", ""});
}

/// Frozen weights are held in 16 bits, embedding and all, so that under torch.autocast there is nothing to cast, and
/// the residual stream stays in 16 bits (PEFT, tuners/lora/layer.py: adapters add to what the base layer returns).
Calibration as_trained(Calibration calibration, const Training& training) {
  if (training.adaptation.lora_rank > 0) calibration.stack.features.mixed_precision = MixedPrecision::of_weights;
  return calibration;
}

Calibration shipped_calibration(const Cluster& cluster, const QuestionText& text) {
  return as_trained(CalibrationSet::shipped().of(slowest_device(cluster), text.stack), text.training);
}

/// What prices the kinds of a cluster apart from the whole.
std::vector<BlockPricer> site_pricers(const Sites& sites, const Calibration& of_all, const QuestionText& text) {
  std::vector<BlockPricer> pricers{{sites[0].cluster, of_all}};
  for (std::int32_t site = 1; site < sites.count(); ++site)
    pricers.emplace_back(sites[site].cluster, shipped_calibration(sites[site].cluster, text));
  return pricers;
}

/// The value of the axis "attention" of a stack (models/calibrations/traits.json).
std::string attention_of(std::string_view stack) { return CalibrationSet::shipped().axis_value(stack, "attention"); }

LegalityLimits limits_of(const QuestionText& text, const Cluster& cluster) {
  LegalityLimits limits{device_count(cluster), domain_devices(cluster), text.tensor_parallel_across_nodes};
  const bool is_first = attention_of(text.stack) == "flash-1";
  for (const NodeGroup& group : cluster.groups) {
    const Abilities& able = abilities(group.node.device.architecture);
    limits.flash_head = std::min(limits.flash_head, is_first ? able.flash_1_head : able.flash_head);
  }
  return limits;
}

}  // namespace

std::string name_warning(const QuestionText& text) {
  std::string all;
  for (const std::string& warning :
       {network_name_warning(text.model), machine_name_warning(text.machine),
        text.stack.empty() ? std::string() : CalibrationSet::shipped().stack_name_warning(text.stack)})
    if (!warning.empty()) all += (all.empty() ? "" : "; ") + warning;
  return all;
}

Question::Question(const QuestionText& text) : Question(text, find_network(text.model), sized(text)) {}

Question::Question(const QuestionText& text, Network network, Cluster cluster)
    : network_(std::move(network)),
      graph_(countable(adapted(network_.graph, text.training.adaptation))),
      cluster_(std::move(cluster)),
      usual_(default_stack_of(text, network_, cluster_)),
      text_(with_defaults(text, network_, usual_)),
      sites_(cluster_),
      calibration_(shipped_calibration(cluster_, text_)),
      facts_(divisibility(graph_)),
      limits_(limits_of(text_, cluster_)),
      stack_fuses_attention_(attention_of(text_.stack) != "unfused"),
      block_pricers_(site_pricers(sites_, calibration_, text_)),
      step_pricer_(block_pricers_, text_.training) {
  require_room(text_.headroom, device_memory());
}

Question Question::with_calibration(const Calibration& calibration) const {
  Question copy = *this;
  copy.calibration_ = as_trained(calibration, training());
  for (std::int32_t site = 0; site < sites_.count(); ++site) {
    const DeviceCalibration& known = block_pricer(site).kernels().calibration().device;
    const bool is_same = site == 0 || known.name == calibration.device.name;
    copy.block_pricers_[static_cast<std::size_t>(site)] =
        BlockPricer(sites_[site].cluster, {is_same ? calibration.device : known, copy.calibration_.stack});
  }
  copy.step_pricer_ = StepPricer(copy.block_pricers_, training());
  return copy;
}

std::optional<Dollars> Question::price() const {
  return text_.price_per_device_hour ? text_.price_per_device_hour : price_per_device_hour(cluster_);
}

std::optional<NumberFormat> Question::kept_gradients(const Strategy& strategy) const {
  return plumbline::kept_gradients(strategy, calibration_.stack.features, training().formats());
}

FlashAttention Question::usual_flash_attention() const {
  const bool is_on = stack_fuses_attention_ && facts_.head_features <= limits_.flash_head;
  return is_on ? FlashAttention::on : FlashAttention::off;
}

Bytes Question::capacity(std::int32_t site) const {
  const Bytes memory = device_memory(site);
  return memory - text_.headroom.of(memory);
}

Bytes Question::largest_capacity() const {
  Bytes largest = capacity();
  for (std::int32_t site = 1; site < sites_.count(); ++site) largest = std::max(largest, capacity(site));
  return largest;
}

Bytes Question::certain_capacity(std::int32_t site) const {
  const double uncertain = std::exp(deviations_90_percent * calibration_.stack.residuals.memory.sigma);
  const auto certain = static_cast<std::int64_t>(static_cast<double>(device_memory(site).value()) / uncertain);
  return std::min(Bytes(certain), capacity(site));
}

Bytes Question::on_smallest(Bytes held, std::int32_t site) const {
  const Bytes least = capacity();
  const Bytes own = capacity(site);
  if (own == least) return held;
  const double part = static_cast<double>(held.value()) / static_cast<double>(own.value());
  const Bytes scaled(std::llround(part * static_cast<double>(least.value())));
  // Rounding decides nothing: what fits its own device fits here.
  return held <= own ? std::min(scaled, least) : std::max(scaled, least + Bytes(1));
}

Strategy completed(const PartialStrategy& partial, const Question& question) {
  Strategy s = partial.strategy;
  for (const std::int64_t degree :
       {std::int64_t{s.pipeline_stages}, std::int64_t{s.tensor_parallel}, std::int64_t{s.context_parallel},
        std::int64_t{s.expert_parallel}, std::int64_t{s.expert_tensor_parallel}, std::int64_t{s.data_parallel},
        std::int64_t{s.virtual_stages}, s.micro_batch})
    require_range("strategy", degree, largest_global_batch);
  std::int64_t product = 1;  // stays inside 64 bits because it stops at the first excess
  for (const std::int32_t degree : {s.pipeline_stages, s.tensor_parallel, s.context_parallel, s.data_parallel})
    if ((product *= degree) > most_devices)
      throw InputError({"strategy", "tp x cp x pp x dp exceeds " + std::to_string(most_devices),
                        "degrees whose product is the GPU count", ""});
  const std::int64_t model_ranks = std::int64_t{s.pipeline_stages} * s.tensor_parallel * s.context_parallel;
  if (!partial.data_parallel_given) {
    if (model_ranks > question.devices() || question.devices() % model_ranks != 0)
      throw InputError({"strategy",
                        "tp x cp x pp = " + std::to_string(model_ranks) + " does not divide " +
                            std::to_string(question.devices()) + " GPUs",
                        "degrees whose product divides the GPU count", ""});
    s.data_parallel = static_cast<std::int32_t>(question.devices() / model_ranks);
  }
  const std::int64_t batch = question.training().global_batch;
  const std::int64_t at_once = s.sequences_at_once();
  if (!s.set_batch(batch))
    throw InputError(
        {"global batch", std::to_string(batch) + " is not divisible by dp x micro-batch = " + std::to_string(at_once),
         "a multiple", std::to_string(std::max<std::int64_t>(1, (batch + at_once / 2) / at_once) * at_once)});
  if (!partial.schedule_given)
    s.schedule = s.pipeline_stages == 1 ? Schedule::none
                 : s.virtual_stages > 1 ? Schedule::interleaved
                                        : Schedule::one_f_one_b;
  if (!partial.flash_attention_given && s.flash_attention == FlashAttention::on)
    s.flash_attention = question.usual_flash_attention();
  if (!partial.shard_group_given) s.shard_over_all();
  if (s.zero_stage > 0 && s.gradient_ranks() == 1) s.zero_stage = 0, s.shard_over_all();  // nothing to share with
  return s;
}

void require_moments(const Training& training) {
  if (!training.optimizer_format) return;
  if (facts(training.optimizer).quantizes_states)
    throw InputError({"--optimizer-precision",
                      std::string(to_text(training.optimizer)) + " keeps its states in codes of one byte",
                      "no such flag, or --optimizer adamw", ""});
  if (facts(training.optimizer).keeps_states()) return;
  throw InputError({"--optimizer-precision",
                    std::string(to_text(training.optimizer)) + " keeps no moments whose format could be chosen",
                    "an optimizer with moments, or no such flag", ""});
}

PrecisionRecipe usual_precision(const Cluster& cluster) {
  for (const NodeGroup& group : cluster.groups)
    if (!has_units(group.node.device, NumberFormat::bf16)) return PrecisionRecipe::fp16;
  return Training{}.precision;
}

void require_units(const Question& question) {
  for (const NodeGroup& group : question.cluster().groups) {
    const Device& device = group.node.device;
    if (multiplies(device, question.training().precision)) continue;
    std::string recipes;
    for (const PrecisionRecipe recipe : all_precision_recipes)
      if (multiplies(device, recipe)) recipes += (recipes.empty() ? "" : ", ") + std::string(to_text(recipe));
    throw InputError({"--precision",
                      std::string(to_text(question.training().precision)) + " multiplies in " +
                          operands(question.training().formats()) + ", for which " + device.name + " has no units",
                      "one of " + recipes,
                      std::string(to_text(nearest_recipe(device, question.training().precision)))});
  }
}

void require_legal(const Strategy& strategy, const Question& question) {
  const auto violation = first_violation(strategy, question.training(), question.facts(), question.limits());
  if (!violation) return;
  throw InputError({"strategy, rule " + std::string(violation->rule.id), violation->what,
                    std::string(violation->rule.sentence), ""});
}

}  // namespace plumbline
