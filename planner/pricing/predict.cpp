#include "planner/pricing/predict.h"

#include <algorithm>
#include <cmath>

#include "core/cost/host_share.h"
#include "core/cost/stage_memory.h"
#include "core/quantity/text.h"
#include "planner/pricing/priced.h"
#include "planner/pricing/trust.h"

namespace plumbline {
namespace {

constexpr double hours_per_day = 24;

FlopsPerSecond cluster_peak(const Question& question) {
  FlopsPerSecond sum(0);
  for (const NodeGroup& group : question.cluster().groups) {
    const FlopsPerSecond peak = group.node.device.product_peak(question.training().formats().matmul);
    sum += static_cast<double>(group.count) * group.node.devices * peak;
  }
  return sum;
}

/// One sequence on one rank.
Shard whole_sequence(const Question& question) {
  Shard one;
  one.lengths = {1, question.training().sequence_length};
  one.formats = question.training().formats();
  return one;
}

/// FLOPs of a step's attention that a causal mask makes superfluous: half of the square.
Flops masked_flops(const Question& question) {
  const Shard one = whole_sequence(question);
  Flops sum(0);
  for (const BlockRun& run : question.graph().runs()) {
    const Block& block = question.graph().block(run.block);
    for (const Op& op : block.ops()) {
      const OpWork work = op_work(block, op, one);
      if (work.attention && work.attention->causal)
        sum += 0.5 * static_cast<double>(run.count) * (work.forward + work.backward_input + work.backward_weight);
    }
  }
  return static_cast<double>(question.training().global_batch) * sum;
}

Flops recompute_flops(const StageTable& stages, const Strategy& s) {
  const std::int64_t ranks_per_stage = s.devices() / s.pipeline_stages;
  Flops sum(0);
  for (std::size_t rank = 0; rank < stages.size(); ++rank) sum += stages[rank].recompute_flops;
  return static_cast<double>(s.micro_batches) * static_cast<double>(ranks_per_stage) * sum;
}

Joules energy_per_second(const Question& question) {
  Watts power(0);
  for (const NodeGroup& group : question.cluster().groups)
    power += static_cast<double>(group.count) *
             (static_cast<double>(group.node.devices) * group.node.device.power.value + group.node.host_power.value);
  return power * Seconds(1);
}

}  // namespace

Flops model_flops(const Question& question) {
  const Shard one = whole_sequence(question);
  return static_cast<double>(question.training().global_batch) * graph_flops(question.graph(), one).total();
}

Prediction predict(const Question& question, const StageTable& stages, const Strategy& s) {
  Prediction p;
  p.time = question.step_pricer().price(stages, s).breakdown;
  const StageSites sites = question.stage_sites(s);
  const Seconds step = to_seconds(p.time.total());
  const Uncertainty uncertainty = uncertainty_of(question, s, host_share(stages, s.micro_batches, p.time.total()));
  p.step_time_s = interval_of(step.value(), uncertainty.time_sigma);
  const std::optional<NumberFormat> kept = question.kept_gradients(s);
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    p.stage_memory.push_back(stage_memory(stages[rank], rank_load(stages, s, static_cast<std::int32_t>(rank), kept), s,
                                          question.training().formats(), question.training().optimizer,
                                          question.calibration().stack));
    const auto heaviest = static_cast<std::size_t>(p.heaviest_stage);
    if (question.on_smallest(p.stage_memory[rank].device_total(), sites.site(rank)) >
        question.on_smallest(p.stage_memory[heaviest].device_total(), sites.site(heaviest)))
      p.heaviest_stage = static_cast<std::int32_t>(rank);
  }
  p.peak_memory = p.stage_memory[static_cast<std::size_t>(p.heaviest_stage)].device_total();
  p.peak_memory_interval_bytes = interval_of(static_cast<double>(p.peak_memory.value()), uncertainty.memory_sigma);
  p.host_memory_per_node = host_memory(question, stages, s).needed;
  const double tokens =
      static_cast<double>(question.training().global_batch) * static_cast<double>(question.training().sequence_length);
  p.tokens_per_second_per_gpu = tokens / step.value() / static_cast<double>(question.devices());
  p.model_flops_per_step = model_flops(question);
  p.hardware_flops_per_step = p.model_flops_per_step + recompute_flops(stages, s);
  p.mfu = (p.model_flops_per_step / step) / cluster_peak(question);
  p.mfu_causal = ((p.model_flops_per_step - masked_flops(question)) / step) / cluster_peak(question);
  p.hfu = (p.hardware_flops_per_step / step) / cluster_peak(question);
  p.bubble_fraction = p.time[TimeCause::pipeline_bubble] / p.time.total();
  const auto price = question.price();
  p.dollars_per_step =
      price ? price->value() * static_cast<double>(question.devices()) * step.value() / seconds_per_hour : 0;
  p.joules_per_step = energy_per_second(question).value() * step.value();
  p.communication = question.step_pricer().communication(stages, s);
  return p;
}

RunCost run_cost(const Question& question, const Prediction& p) {
  RunCost run;
  if (!question.training().token_budget) return run;
  const double tokens_per_step =
      static_cast<double>(question.training().global_batch) * static_cast<double>(question.training().sequence_length);
  const double steps = std::ceil(static_cast<double>(*question.training().token_budget) / tokens_per_step);
  const double hours = steps * p.step_time_s.expected / seconds_per_hour;
  run.days = hours / hours_per_day;
  run.gpu_hours = hours * static_cast<double>(question.devices());
  run.dollars = Dollars(steps * p.dollars_per_step);
  run.energy_kwh = steps * p.joules_per_step / joules_per_kwh;
  return run;
}

namespace {

MemoryClass largest_class(const MemoryBreakdown& memory) {
  return static_cast<MemoryClass>(std::max_element(memory.by_class.begin(), memory.by_class.end()) -
                                  memory.by_class.begin());
}

std::string spoken(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace

Verdict verdict_of(const Question& question, const Prediction& p, const Strategy& strategy, Bytes host) {
  Verdict v;
  const std::int32_t site = question.stage_sites(strategy).site(static_cast<std::size_t>(p.heaviest_stage));
  v.capacity = question.device_memory(site);
  v.headroom = question.text().headroom.of(v.capacity);
  v.margin = v.capacity - p.peak_memory;
  const MemoryBreakdown& heaviest = p.stage_memory[static_cast<std::size_t>(p.heaviest_stage)];
  const MemoryClass largest = largest_class(heaviest);
  const std::string stage = "stage " + std::to_string(p.heaviest_stage) + " needs " + to_text(p.peak_memory) + " of " +
                            to_text(v.capacity) + ", most of all " + spoken(to_text(largest)) + " (" +
                            to_text(heaviest[largest]) + ")";
  v.fits = v.margin >= v.headroom && p.host_memory_per_node <= host;
  v.chance_to_fit = chance_to_fit(p.peak_memory, question.calibration().stack.residuals.memory.sigma, v.capacity);
  v.near_edge = v.fits && p.peak_memory > question.certain_capacity(site);
  const std::string chance = ", chance to fit " + chance_text(v.chance_to_fit);
  if (v.margin < Bytes(0)) {
    v.reason = stage + ": " + to_text(Bytes(-v.margin.value())) + " too much" + chance;
  } else if (v.margin < v.headroom) {
    v.reason =
        stage + ": " + to_text(v.margin) + " to spare, less than the " + to_text(v.headroom) + " to keep free" + chance;
  } else if (!v.fits) {
    v.reason = "a node's host memory of " + to_text(host) + " is less than the " + to_text(p.host_memory_per_node) +
               " that its ranks need";
  } else {
    v.reason = stage + ": " + to_text(v.margin) + " to spare" +
               (v.near_edge ? ", within the uncertainty of the estimate" : "") + chance;
  }
  return v;
}

}  // namespace plumbline
